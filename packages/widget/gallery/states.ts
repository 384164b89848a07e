import type { GiftcardBalance, GiftcardPay } from "../src/define.js";
import { en } from "../src/messages/en.js";
import { changeCart, poor, rich } from "./shop-client.js";
import type { Shopper } from "./shopper.js";

type Tag = GiftcardPay | GiftcardBalance;

/** A state to show: the initial cart, and the shopper's steps. */
export interface State {
  title: string;
  tag?: "giftcard-balance";
  cart?: object;
  /** Whether the state is shown before the cart is loaded. */
  isLoading?: boolean;
  act?(visit: Visit, cart: string): Promise<void>;
}

async function until(condition: () => unknown): Promise<void> {
  for (let tries = 0; tries < 300 && !condition(); tries++) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A shopper at one tag. */
export class Visit {
  constructor(
    readonly tag: Tag,
    private readonly shopper: Shopper,
  ) {}

  /** Returns the part as soon as it is shown. */
  async find<Part extends HTMLElement = HTMLElement>(selector: string): Promise<Part> {
    const part = () => this.tag.shadowRoot?.querySelector<Part>(selector);
    await until(part);
    if (!part()) throw new Error(`no ${selector} in ${this.tag.shadowRoot?.textContent}`);
    return part() as Part;
  }

  async press(selector: string): Promise<void> {
    await this.shopper.press(await this.find(selector));
    await this.tag.updateComplete;
  }

  async fill(card: { number: string; pin: string }): Promise<void> {
    for (const name of ["number", "pin"] as const) await this.shopper.type(await this.find(`#${name}`), card[name]);
    await this.tag.updateComplete;
  }

  async check(card: { number: string; pin: string }): Promise<void> {
    await this.fill(card);
    await this.press("button[type=submit]");
    await until(() => !this.tag.busy);
    await this.tag.updateComplete;
  }

  async apply(card: typeof rich): Promise<void> {
    await this.check(card);
    await this.press("#apply");
    await until(() => !this.tag.busy && !this.tag.shadowRoot?.querySelector("#apply"));
  }
}

const refused = (code: string, more: object = {}): State => ({
  title: `Refused: ${code}`,
  async act(visit, cart) {
    await changeCart(cart, { faults: [{ code, ...more }] });
    await visit.check(rich);
  },
});

const reload = (tag: Tag) => (tag as GiftcardPay).refresh();

export const states: State[] = [
  { title: "Empty" },
  { title: "Left empty", act: (visit) => visit.press("button[type=submit]") },
  {
    title: "PIN shown",
    async act(visit) {
      await visit.fill(rich);
      await visit.press(".eye");
    },
  },
  { title: "Checked: limit per order", act: (visit) => visit.check(rich) },
  { title: "Checked: whole balance used", act: (visit) => visit.check(poor) },
  { title: "Applied", act: (visit) => visit.apply(rich) },
  {
    title: "Two cards",
    async act(visit) {
      await visit.apply(rich);
      await visit.press("#add");
      await visit.apply(poor);
    },
  },
  {
    title: "Another card",
    async act(visit) {
      await visit.apply(rich);
      await visit.press("#add");
    },
  },
  { title: "Covered", cart: { totalCents: 4200 }, act: (visit) => visit.apply(rich) },
  { title: "No more cards", cart: { maxCards: 1 }, act: (visit) => visit.apply(rich) },
  {
    title: "The order changed",
    async act(visit, cart) {
      await visit.apply(rich);
      await changeCart(cart, { totalCents: 6000 });
      await reload(visit.tag);
    },
  },
  {
    title: "The balance decreased",
    async act(visit, cart) {
      await visit.apply(rich);
      await changeCart(cart, { cards: [{ ...rich, balanceCents: 1200 }, poor] });
      await reload(visit.tag);
    },
  },
  {
    title: "Details expired, payment being undone",
    async act(visit, cart) {
      const applied = [
        { id: "a", number: rich.number, state: "expired" },
        { id: "b", number: poor.number, state: "settling" },
      ];
      await changeCart(cart, { applied });
      await reload(visit.tag);
    },
  },
  {
    title: "A payment that is not finished",
    async act(visit, cart) {
      await changeCart(cart, { applied: [{ id: "a", number: rich.number, state: "settling" }] });
      await reload(visit.tag);
      (visit.tag as GiftcardPay).reportValidity();
    },
  },
  {
    title: "The card was refused when the order was placed",
    cart: { totalCents: 4200 },
    async act(visit, cart) {
      await changeCart(cart, {
        applied: [{ id: "a", number: rich.number, state: "applied", refusal: "card_blocked" }],
      });
      await reload(visit.tag);
    },
  },
  {
    title: "The page vetoed the card",
    async act(visit) {
      visit.tag.addEventListener(
        "giftcard-before-apply",
        ({ detail }) => detail.waitUntil(Promise.resolve("This show takes no gift cards.")),
        { once: true },
      );
      await visit.check(rich);
      await visit.press("#apply");
      await visit.find("#error:not(.silent)");
    },
  },
  {
    title: "With the page's own title, help and terms",
    async act({ tag }) {
      for (const [slot, text] of Object.entries({
        title: "Gift card",
        "pin-help": "Below the scratch panel",
        terms: "Gift cards can't be paid out.",
      })) {
        const part = document.createElement(slot === "title" ? "strong" : "small");
        Object.assign(part, { slot, textContent: text });
        tag.append(part);
      }
    },
  },
  { title: "Nothing to pay", cart: { totalCents: 0 } },
  { title: "Test mode", cart: { environment: "sandbox" } },
  {
    title: "Disabled",
    async act({ tag }) {
      (tag as GiftcardPay).disabled = true;
    },
  },
  {
    title: "Order submitted before the card was applied",
    async act(visit) {
      await visit.fill(rich);
      (visit.tag as GiftcardPay).reportValidity();
    },
  },
  {
    title: "Offline",
    async act(visit, cart) {
      await changeCart(cart, { faults: [{ cut: "before" }] });
      await visit.check(rich);
    },
  },
  {
    title: "Order: outcome unknown",
    act: ({ tag }) => (tag as GiftcardPay).showError("outcome_unknown"),
  },
  { title: "Balance: empty", tag: "giftcard-balance" },
  { title: "Balance: shown", tag: "giftcard-balance", act: (visit) => visit.check(rich) },
  ...Object.keys(en.errors)
    .filter((code) => !["offline", "unfinished", "outcome_unknown", "nothing_to_pay"].includes(code))
    .map((code) => refused(code, code === "too_many_attempts" ? { retryAfterSeconds: 899 } : {})),
  // Last: their calls time out after 20 seconds.
  {
    title: "Before the cart is loaded",
    cart: { faults: [{ delayMs: 600_000 }] },
    isLoading: true,
    async act({ tag }) {
      for (const animation of tag.shadowRoot?.getAnimations() ?? []) {
        animation.pause();
        animation.currentTime = 1000;
      }
    },
  },
  {
    title: "Checking, slow response",
    async act(visit, cart) {
      await changeCart(cart, { faults: [{ delayMs: 600_000 }] });
      await visit.fill(rich);
      await visit.press("button[type=submit]");
      await visit.find("[role=status]:not(.silent)");
    },
  },
];
