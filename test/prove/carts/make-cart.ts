import { createRandom, type Random } from "../people/random.js";

/** The products that a cart can have, each with its price and the product type that determines its VAT rate. */
export const goods = {
  opera: { price: 24.95, type: "Ticket" },
  jazz: { price: 19.95, type: "Ticket" },
  folk: { price: 12.95, type: "Ticket" },
  gala: { price: 74.98, type: "Ticket" },
  lecture: { price: 17.5, type: "Exempt" },
  shirt: { price: 24.95, type: null },
  poster: { price: 9.99, type: null },
} as const;
export type Good = keyof typeof goods;

/** The shop's own promotion codes, and those that `openShop` adds. */
export const codes = ["TEN", "FIVE", "FREESHIP", "ITEMS15", "EACH1", "POST2", "NETSEVEN", "NETFOUR"] as const;
export type Code = (typeof codes)[number];

/**
 * How the units of a line are refunded. `return`: they are fulfilled and returned. `edit`: they are removed by an order
 * edit. `show`: a bulk refund of the product refunds them. `show, then edit`: an edit then removes them too.
 */
export type Way = "return" | "edit" | "show" | "show, then edit";

export interface Line {
  readonly good: Good;
  readonly quantity: number;
  readonly way: Way;
}

/** Units that are refunded together: usually one, but the whole line in a bulk refund. */
export interface Step {
  readonly line: number;
  readonly quantity: number;
}

/** A cart, the cards that pay for it, and how it is refunded. Determined by its seed alone. */
export interface CartPlan {
  readonly seed: number;
  /** VAT in percent: 9, 21 and 0 in the Netherlands; 7, 19 and 0 in Germany. */
  readonly country: "nl" | "de";
  /** Whether prices include VAT. */
  readonly isInclusive: boolean;
  readonly lines: readonly Line[];
  readonly codes: readonly Code[];
  readonly isPosted: boolean;
  /** The balances of the cards. They are applied until nothing is left to pay. */
  readonly cardsCents: readonly number[];
  readonly steps: readonly Step[];
  /** How the remainder of the order, such as delivery, is refunded. Only an order without fulfilled units is canceled. */
  readonly end: "whole order" | "cancel";
}

const MOST_CENTS = 5000;

/** Makes a cart from its seed. @param mostUnits the most units that a line has */
export function makeCart(seed: number, mostUnits = 13): CartPlan {
  const random = createRandom(seed);
  const names = random.shuffle(Object.keys(goods) as Good[]);
  const isEdited = random.chance(0.4);
  const lines = names.slice(0, random.pick([1, 1, 2, 2, 2, 3])).map((good): Line => {
    const quantity = random.chance(0.3) ? 1 : random.int(2, mostOf(good, mostUnits));
    return { good, quantity, way: wayOf(random, good, isEdited) };
  });
  const count = random.int(1, 5);
  const isFull = random.chance(0.6);
  return {
    seed,
    country: random.chance(0.5) ? "nl" : "de",
    isInclusive: random.chance(0.6),
    lines,
    codes: random.shuffle(codes).slice(0, random.pick([0, 1, 1, 1, 2])),
    isPosted: random.chance(0.4),
    cardsCents: Array.from({ length: count }, () => (isFull ? MOST_CENTS : random.int(1, MOST_CENTS))),
    steps: random.shuffle(lines.flatMap((line, index) => stepsOf(random, line, index))),
    end: lines.some(({ way }) => way === "return") || random.chance(0.5) ? "whole order" : "cancel",
  };
}

const mostOf = (good: Good, mostUnits: number) => Math.max(2, Math.min(mostUnits, goods[good].price > 50 ? 3 : 13));

function wayOf(random: Random, good: Good, isEdited: boolean): Way {
  if (goods[good].type === "Ticket" && random.chance(0.3)) return random.pick(["show", "show, then edit"] as const);
  return isEdited ? "edit" : "return";
}

function stepsOf(random: Random, { quantity, way }: Line, line: number): Step[] {
  if (way !== "return" && way !== "edit") return [{ line, quantity }];
  const steps: Step[] = [];
  for (let left = quantity; left > 0; ) {
    const some = random.chance(0.6) ? 1 : random.int(1, left);
    steps.push({ line, quantity: some });
    left -= some;
  }
  return steps;
}
