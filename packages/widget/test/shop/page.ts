import { expect, fixture, html, waitUntil } from "@open-wc/testing";
import { executeServerCommand, sendKeys } from "@web/test-runner-commands";
import type { GiftcardBalance, GiftcardPay } from "../../src/define.js";
import "../../src/define.js";
import type { GiftcardEventMap } from "../../src/index.js";
import { type Hand, press, tabTo, tap } from "./hand.js";

/** A card with a balance above the limit per order. Every test cart knows this card and the next. */
export const rich = {
  number: "6064350000000001234",
  pin: "012345",
  balanceCents: 7500,
  expiryDate: "2027-05-31",
};
/** A card with a balance below the limit. */
export const poor = { number: "6064350000000005678", pin: "000007", balanceCents: 1000 };

/**
 * A fault of the next call: a refusal, a connection that breaks before or after the shop did its work, a slow response, or
 * an unreadable one. With `silent` it breaks after the work and before the first byte, so the browser sends the call again.
 */
export interface ShopTrouble {
  code?: string;
  retryAfterSeconds?: number;
  headerOnly?: boolean;
  cut?: "before" | "after" | "silent";
  delayMs?: number;
  raw?: string;
  status?: number;
}

/** A cart in the shop, for one test. */
export interface TestCart {
  id: string;
  change(to: Record<string, unknown>): Promise<void>;
  trouble(...faults: ShopTrouble[]): Promise<void>;
  calls(): Promise<{ method: string; url: string; headers: Record<string, string>; body: string }[]>;
  appliedCount(): Promise<number>;
}

export async function makeCart(options: Record<string, unknown> = {}): Promise<TestCart> {
  const post = async (path: string, body: unknown) =>
    (await fetch(path, { method: "POST", body: JSON.stringify(body) })).json();
  const { id } = await post("/shop/carts", { cards: [rich, poor], ...options });
  const change = async (to: Record<string, unknown>) => void (await post(`/shop/carts/${id}`, to));
  const read = async () => (await fetch(`/shop/carts/${id}`)).json();
  return {
    id,
    change,
    trouble: (...faults) => change({ faults }),
    calls: async () => (await read()).log,
    appliedCount: async () => (await read()).applied.length,
  };
}

export const endpoint = "/shop/store/giftcard-pay";

/** The browser's real keys, and its real touch. */
const hand: Hand = {
  type: (text) => sendKeys({ type: text }),
  async key(name) {
    const [modifier, key] = name.includes("+") ? name.split("+") : [undefined, name];
    if (modifier) await sendKeys({ down: modifier });
    await sendKeys({ press: key as string });
    if (modifier) await sendKeys({ up: modifier });
  },
  touch: (x, y) => executeServerCommand("touch", { x, y }),
};

/** Puts the widget on the page and waits until it shows the cart. */
export async function show(cart: TestCart, lang = "en"): Promise<Widget> {
  const element = await fixture<GiftcardPay>(
    html`<giftcard-pay endpoint=${endpoint} cart=${cart.id} publishable-key="pk_test" lang=${lang}></giftcard-pay>`,
  );
  const widget = new Widget(element);
  await widget.until(() => !!element.summary || widget.alert !== "", "the cart is shown");
  return widget;
}

/** A widget on the page, as a shopper uses and sees it. */
export class Widget<Element extends GiftcardPay | GiftcardBalance = GiftcardPay> {
  constructor(readonly element: Element) {}

  get root(): ShadowRoot {
    return this.element.shadowRoot as ShadowRoot;
  }

  find<Found extends HTMLElement = HTMLElement>(selector: string): Found | null {
    return this.root.querySelector<Found>(selector);
  }

  get number(): HTMLInputElement {
    return this.find<HTMLInputElement>("#number") as HTMLInputElement;
  }

  get pin(): HTMLInputElement {
    return this.find<HTMLInputElement>("#pin") as HTMLInputElement;
  }

  /** The visible text, on one line. */
  get text(): string {
    // biome-ignore lint/performance/useDomNodeTextContent: it must not contain hidden parts
    return plain((this.find(".base") as HTMLElement).innerText);
  }

  /** The text of the error, in the alert or below a field. */
  get alert(): string {
    return plain([...this.root.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent).join(" "));
  }

  /** The ids of the fields that are marked as wrong. */
  get invalid(): string[] {
    return [...this.root.querySelectorAll('[aria-invalid="true"]')].map(({ id }) => id);
  }

  get status(): string {
    return plain(this.find('[role="status"]')?.textContent ?? "");
  }

  /** The id of the focused element, or its accessible name. */
  get focused(): string | undefined {
    const active = this.root.activeElement as HTMLElement | null;
    return active?.id || active?.getAttribute("aria-label") || undefined;
  }

  button(name: string): HTMLButtonElement {
    const match = [...this.root.querySelectorAll("button")].find(
      (button) => button.checkVisibility() && (button.getAttribute("aria-label") ?? plain(button.textContent)) === name,
    );
    if (!match) throw new Error(`no button "${name}" in: ${this.text}`);
    return match;
  }

  until(condition: () => boolean, expected: string): Promise<void> {
    return waitUntil(condition, expected, { timeout: 60_000, interval: 10 });
  }

  /** Types number and PIN and presses Enter, which checks the balance. */
  async enter(card: { number: string; pin: string }): Promise<void> {
    await this.fill(card);
    await this.key("Enter");
  }

  /** Types number and PIN, or one of them, in place of what the fields hold. */
  async fill(card: { number?: string; pin?: string }): Promise<void> {
    for (const name of ["number", "pin"] as const) {
      const text = card[name];
      if (text === undefined) continue;
      await tabTo(this[name], hand);
      this[name].select();
      await this.type(text);
    }
  }

  /** Enters number and PIN and checks the balance. */
  async check(card: { number: string; pin: string }): Promise<void> {
    await this.enter(card);
    await this.settled();
  }

  async apply(card: { number: string; pin: string }): Promise<void> {
    await this.check(card);
    await this.until(() => !!this.find("#apply"), "the quote is shown");
    await this.press("#apply");
  }

  /** Moves the focus to a part by the Tab key, presses Enter, and waits until no call is pending. */
  async press(part: string | HTMLElement): Promise<void> {
    await this.start(part);
    await this.settled();
  }

  /** Presses a part as `press` does, and doesn't wait for the calls that it starts. */
  start(part: string | HTMLElement): Promise<void> {
    return press(this.#part(part), hand);
  }

  /** Touches a part, and waits until no call is pending. */
  async tap(part: string | HTMLElement): Promise<void> {
    await tap(this.#part(part), hand);
    await this.settled();
  }

  #part(part: string | HTMLElement): HTMLElement {
    const found = typeof part === "string" ? this.find(part) : part;
    if (!found) throw new Error(`no ${part} in: ${this.text}`);
    return found;
  }

  /** Waits until no call is pending. */
  async settled(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 30));
    await this.until(() => !this.root.querySelector("input[readonly], .busy"), "no call is pending");
    await this.element.updateComplete;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async type(text: string): Promise<void> {
    await hand.type(text);
  }

  /** Holds a key: it repeats at least twenty times, and until the condition holds. */
  async hold(name: string, condition: () => boolean, expected: string): Promise<void> {
    for (let presses = 0; presses < 20 || !condition(); presses++) {
      if (presses > 400) throw new Error(expected);
      await sendKeys({ down: name });
    }
    await sendKeys({ up: name });
  }

  /** Presses one key, such as `Enter`, or `Shift+Tab`. */
  async key(name: string): Promise<void> {
    await hand.key(name);
  }
}

/** Pastes a text into a field, as the browser's menu does. */
export function paste(field: HTMLElement, text: string): Event {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new Event("paste", { bubbles: true, cancelable: true, composed: true });
  // In Firefox, a page can't read the data of a ClipboardEvent that it has made itself.
  Object.defineProperty(event, "clipboardData", { value: clipboardData });
  field.dispatchEvent(event);
  return event;
}

/** Collects the events of one type. */
export function listen<Type extends keyof GiftcardEventMap>(widget: Widget, type: Type): GiftcardEventMap[Type][] {
  const events: GiftcardEventMap[Type][] = [];
  widget.element.addEventListener(type, (event) => events.push(event));
  return events;
}

/** Replaces line breaks and the non-breaking spaces of `Intl` by single spaces. */
export function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export { expect };
