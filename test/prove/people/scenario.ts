/** Prices in cents, by product handle, or by SKU if the product has several variants. */
export const goods = {
  "faults-snack": 555,
  "faults-night": 8331,
  "faults-weekend": 11_052,
  "open-air-cinema": 2000,
  "summer-night-festival": 7498,
  "COMEDY-STANDARD": 2495,
  "COMEDY-REDUCED": 1995,
  "JAZZ-REDUCED": 1295,
  /** The only product at the standard VAT rate. All others are tickets. */
  "SHIRT-M": 2495,
} as const;
export type Good = keyof typeof goods;

/** The promotion codes: 10 % off, 5.00 off, and free delivery. */
export const codes = ["TEN", "FIVE", "FREESHIP"] as const;
export type Code = (typeof codes)[number];

/** The prices of delivery by email and by post, in cents. */
export const deliveries = [0, 495] as const;

/** First-time events of a cart that actors can wait for. */
export const moments = ["session", "completing", "order", "answered"] as const;
export type Moment = (typeof moments)[number];

/**
 * How the bank handles a session: it authorizes at once, captures at once, asks for more first, declines, settles
 * later, or waits until the shopper used its own page (`webhook`: it notifies the shop then; `pays`: it has the money
 * before the shop knows).
 */
export const bankWays = ["authorized", "captured", "asks", "error", "later", "webhook", "pays"] as const;
export type BankWay = (typeof bankWays)[number];

export const shopperSteps = [
  ...(["apply", "quote and apply", "remove", "look", "quantity", "add item", "shipping", "promotion"] as const),
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

/** An action of an actor. It begins after the actor's previous step was answered. */
export interface Step {
  readonly do: StepName;
  /** The moment of the cart that the step waits for. */
  readonly after?: Moment;
  /** The pause before the step. */
  readonly waitMs?: number;
  /** A number that each step interprets: a card, a product, a quantity or a percentage. */
  readonly n?: number;
  /** How the bank handles the session, the action of a webhook, or the fault of a network. */
  readonly how?: string;
  /** The number of repetitions, `gapMs` apart, without waiting for answers. Default 1. */
  readonly times?: number;
  readonly gapMs?: number;
}

/** A person, the bank, or the "weather": faults of networks and processes. */
export interface Actor {
  readonly role: "shopper" | "bank" | "admin" | "weather";
  /** The index of the actor's cart; -1 for the weather. */
  readonly cart: number;
  /** The Medusa that the actor calls. */
  readonly medusa: 0 | 1;
  readonly steps: readonly Step[];
}

export interface CartPlan {
  readonly items: readonly { readonly good: Good; readonly quantity: number }[];
  readonly codes: readonly Code[];
  /** The index in `deliveries`. */
  readonly delivery: 0 | 1;
  /** Whether nothing interferes with this cart. If so, every click must get its order. */
  readonly isPlain: boolean;
}

/** Everything that happens in a round. Determined by its seed, and can be replayed from its JSON. */
export interface Scenario {
  readonly seed: number;
  /** How the shop charges a card: in one charge, or in a charge for each unit. */
  readonly charges: "whole" | "by-line";
  /** The balance of each card in cents. */
  readonly cards: readonly number[];
  readonly carts: readonly CartPlan[];
  readonly actors: readonly Actor[];
}

/** Returns whether networks or processes fail in a scenario. */
export const hasWeather = ({ actors }: Scenario) => actors.some(({ role }) => role === "weather");

/** Returns the total of a cart after its promotions, rounded to whole cents. */
export function totalCentsOf({ items, codes: applied, delivery }: CartPlan): number {
  const itemsCents = items.reduce((sum, { good, quantity }) => sum + goods[good] * quantity, 0);
  const tenths = itemsCents * 10 - (applied.includes("TEN") ? itemsCents : 0);
  const off = applied.includes("FIVE") ? 5000 : 0;
  const deliveryCents = applied.includes("FREESHIP") ? 0 : deliveries[delivery];
  return Math.floor((Math.max(0, tenths - off) + 5) / 10) + deliveryCents;
}
