/** What can be bought, by its handle, or its SKU if there are several variants; and its price in cents. */
export const goods = {
  "faults-snack": 555,
  "faults-night": 8331,
  "faults-weekend": 11_052,
  "open-air-cinema": 2000,
  "summer-night-festival": 7498,
  "COMEDY-STANDARD": 2495,
  "COMEDY-REDUCED": 1995,
  "JAZZ-REDUCED": 1295,
  /** At the standard VAT rate; everything else is tickets. */
  "SHIRT-M": 2495,
} as const;
export type Good = keyof typeof goods;

/** The promotion codes: 10 % off, 5.00 off, and free delivery. */
export const codes = ["TEN", "FIVE", "FREESHIP"] as const;
export type Code = (typeof codes)[number];

/** What delivery costs by e-mail and by post, in cents. */
export const deliveries = [0, 495] as const;

/** Something that happens to a cart for the first time, and that others wait for. */
export const moments = ["session", "completing", "order", "answered"] as const;
export type Moment = (typeof moments)[number];

/**
 * How the bank treats a session: authorizes at once, takes the money at once, asks for more at first, refuses, settles
 * later, or waits until its own page was used (`webhook`: it tells the shop afterwards; `pays`: it has the money before
 * the shop knows).
 */
export const bankWays = ["authorized", "captured", "asks", "error", "later", "webhook", "pays"] as const;
export type BankWay = (typeof bankWays)[number];

export const shopperSteps = [
  ...([
    "apply",
    "quote and apply",
    "remove",
    "look",
    "quantity",
    "add item",
    "shipping",
    "promotion",
  ] as const),
  ...(["no promotion", "e-mail", "region", "session", "complete"] as const),
] as const;
export const bankSteps = ["pay", "webhook"] as const;
export const adminSteps = [
  ...(["capture", "capture bank", "capture card", "refund bank", "refund card", "edit", "fulfil"] as const),
  ...(["return", "give back", "cancel", "recover"] as const),
] as const;
export const weatherSteps = ["lose answer", "restart service", "restart Medusa"] as const;

export type ShopperStep = (typeof shopperSteps)[number];
export type BankStep = (typeof bankSteps)[number];
export type AdminStep = (typeof adminSteps)[number];
export type WeatherStep = (typeof weatherSteps)[number];
export type StepName = ShopperStep | BankStep | AdminStep | WeatherStep;

/** One thing that somebody does, after the one before it was answered. */
export interface Step {
  readonly do: StepName;
  /** Begins only when this has happened to the cart. */
  readonly after?: Moment;
  /** Waits so long before. */
  readonly waitMs?: number;
  /** Which card, which good, how many, what part in percent: what the step makes of it. */
  readonly n?: number;
  /** How the bank treats the session, what a webhook says, which fault a network has. */
  readonly how?: string;
  /** Done so often, not waiting for the answers; default 1. */
  readonly times?: number;
  readonly gapMs?: number;
}

/** Somebody, or what happens to networks and processes. */
export interface Actor {
  readonly role: "shopper" | "bank" | "admin" | "weather";
  /** The cart that it is about; -1 for the weather. */
  readonly cart: number;
  /** Which of the two Medusas it talks to. */
  readonly medusa: 0 | 1;
  readonly steps: readonly Step[];
}

export interface CartPlan {
  readonly items: readonly { readonly good: Good; readonly quantity: number }[];
  readonly codes: readonly Code[];
  /** Which of the deliveries. */
  readonly delivery: 0 | 1;
  /** Nobody and nothing else comes near this cart: it must become an order, for each click. */
  readonly isPlain: boolean;
}

/** Everything that happens in one round. It is made wholly from its seed, and can be replayed from its JSON. */
export interface Scenario {
  readonly seed: number;
  /** How the shop charges a card: at once, or for each unit. */
  readonly charges: "whole" | "by-line";
  /** What each card holds, in cents. */
  readonly cards: readonly number[];
  readonly carts: readonly CartPlan[];
  readonly actors: readonly Actor[];
}

/** Whether networks or processes fail in it. */
export const hasWeather = ({ actors }: Scenario) => actors.some(({ role }) => role === "weather");

/** What a cart costs: each promotion takes its part, and the buyer pays whole cents. */
export function totalCentsOf({ items, codes: applied, delivery }: CartPlan): number {
  const itemsCents = items.reduce((sum, { good, quantity }) => sum + goods[good] * quantity, 0);
  const tenths = itemsCents * 10 - (applied.includes("TEN") ? itemsCents : 0);
  const off = applied.includes("FIVE") ? 5000 : 0;
  const deliveryCents = applied.includes("FREESHIP") ? 0 : deliveries[delivery];
  return Math.floor((Math.max(0, tenths - off) + 5) / 10) + deliveryCents;
}
