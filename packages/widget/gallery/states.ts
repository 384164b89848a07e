import type { GiftcardBalance, GiftcardPay } from "../src/define.js";
import { en } from "../src/messages/en.js";
import { changeCart, poor, rich } from "./shop-client.js";

type Tag = GiftcardPay | GiftcardBalance;

/** A state to show: the initial cart, and the shopper's steps. */
export interface State {
  title: string;
  tag?: "giftcard-balance";
  cart?: object;
  /** Whether the state is shown before the cart is loaded. */
  isLoading?: boolean;
  act?(tag: Tag, cart: string): Promise<void>;
}

const inside = (tag: Tag, selector: string) => tag.shadowRoot?.querySelector<HTMLElement>(selector);

async function until(condition: () => unknown): Promise<void> {
  for (let tries = 0; tries < 300 && !condition(); tries++) await new Promise((resolve) => setTimeout(resolve, 20));
}

function fill(tag: Tag, { number, pin }: { number: string; pin: string }): void {
  for (const [id, value] of Object.entries({ number, pin })) {
    const field = inside(tag, `#${id}`) as HTMLInputElement;
    field.value = value;
    field.dispatchEvent(new Event("input"));
  }
}

async function enter(tag: Tag, card: { number: string; pin: string }): Promise<void> {
  fill(tag, card);
  inside(tag, "button[type=submit]")?.click();
  await until(() => !tag.busy);
  await tag.updateComplete;
}

async function apply(tag: Tag, card: typeof rich): Promise<void> {
  inside(tag, "#add")?.click();
  await tag.updateComplete;
  await enter(tag, card);
  inside(tag, "#apply")?.click();
  await until(() => !tag.busy && !inside(tag, "#apply"));
}

const refused = (code: string, more: object = {}): State => ({
  title: `Refused: ${code}`,
  async act(tag, cart) {
    await changeCart(cart, { faults: [{ code, ...more }] });
    await enter(tag, rich);
  },
});

const reload = (tag: Tag) => (tag as GiftcardPay).refresh();

export const states: State[] = [
  { title: "Empty" },
  {
    title: "Before the cart is loaded",
    cart: { faults: [{ delayMs: 600_000 }] },
    isLoading: true,
    async act(tag) {
      for (const animation of tag.shadowRoot?.getAnimations() ?? []) {
        animation.pause();
        animation.currentTime = 1000;
      }
    },
  },
  { title: "Left empty", act: async (tag) => inside(tag, "button[type=submit]")?.click() },
  {
    title: "PIN shown",
    async act(tag) {
      fill(tag, rich);
      inside(tag, ".eye")?.click();
    },
  },
  {
    title: "Checking, slow response",
    async act(tag, cart) {
      await changeCart(cart, { faults: [{ delayMs: 600_000 }] });
      fill(tag, rich);
      inside(tag, "button[type=submit]")?.click();
      await until(() => inside(tag, "[role=status]:not(.silent)"));
    },
  },
  { title: "Checked: limit per order", act: (tag) => enter(tag, rich) },
  { title: "Checked: whole balance used", act: (tag) => enter(tag, poor) },
  { title: "Applied", act: (tag) => apply(tag, rich) },
  {
    title: "Two cards",
    async act(tag) {
      await apply(tag, rich);
      await apply(tag, poor);
    },
  },
  {
    title: "Another card",
    async act(tag) {
      await apply(tag, rich);
      inside(tag, "#add")?.click();
    },
  },
  { title: "Covered", cart: { totalCents: 4200 }, act: (tag) => apply(tag, rich) },
  { title: "No more cards", cart: { maxCards: 1 }, act: (tag) => apply(tag, rich) },
  {
    title: "The order changed",
    async act(tag, cart) {
      await apply(tag, rich);
      await changeCart(cart, { totalCents: 6000 });
      await reload(tag);
    },
  },
  {
    title: "The balance decreased",
    async act(tag, cart) {
      await apply(tag, rich);
      await changeCart(cart, { cards: [{ ...rich, balanceCents: 1200 }, poor] });
      await reload(tag);
    },
  },
  {
    title: "Details expired, payment being undone",
    async act(tag, cart) {
      const applied = [
        { id: "a", number: rich.number, state: "expired" },
        { id: "b", number: poor.number, state: "settling" },
      ];
      await changeCart(cart, { applied });
      await reload(tag);
    },
  },
  {
    title: "The card was refused when the order was placed",
    cart: { totalCents: 4200 },
    async act(tag, cart) {
      await changeCart(cart, {
        applied: [{ id: "a", number: rich.number, state: "applied", refusal: "card_blocked" }],
      });
      await reload(tag);
    },
  },
  {
    title: "The page vetoed the card",
    async act(tag) {
      tag.addEventListener(
        "giftcard-before-apply",
        ({ detail }) => detail.waitUntil(Promise.resolve("This show takes no gift cards.")),
        { once: true },
      );
      await enter(tag, rich);
      inside(tag, "#apply")?.click();
      await until(() => !tag.busy && inside(tag, "#error:not(.silent)"));
    },
  },
  {
    title: "With the page's own title, help and terms",
    async act(tag) {
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
    async act(tag) {
      (tag as GiftcardPay).disabled = true;
    },
  },
  {
    title: "Order submitted before the card was applied",
    async act(tag) {
      fill(tag, rich);
      await tag.updateComplete;
      (tag as GiftcardPay).reportValidity();
      (document.activeElement as HTMLElement | null)?.blur();
    },
  },
  {
    title: "Offline",
    async act(tag, cart) {
      await changeCart(cart, { faults: [{ cut: "before" }] });
      await enter(tag, rich);
    },
  },
  {
    title: "Order: outcome unknown",
    act: (tag) => (tag as GiftcardPay).showError("outcome_unknown"),
  },
  { title: "Balance: empty", tag: "giftcard-balance" },
  { title: "Balance: shown", tag: "giftcard-balance", act: (tag) => enter(tag, rich) },
  ...Object.keys(en.errors)
    .filter((code) => !["offline", "unfinished", "outcome_unknown", "nothing_to_pay"].includes(code))
    .map((code) => refused(code, code === "too_many_attempts" ? { retryAfterSeconds: 899 } : {})),
];
