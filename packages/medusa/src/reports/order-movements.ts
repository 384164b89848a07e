import { dayOf } from "@giftcard-pay/checkout/operator";
import type { Period } from "../medusa-tables/booked-orders.js";
import type { SaleStep } from "./order-sales.js";
import { difference, vatCents } from "./vat.js";

/** Money that a method took, or returned below 0. */
export interface MoneyMove {
  readonly at: Date;
  /** null for any other method than a card. */
  readonly lastFour: string | null;
  /** Medusa's id of the payment provider. */
  readonly providerId: string;
  readonly cents: number;
  /** Whether it was returned because the purchase or its order was canceled. */
  readonly isCancel: boolean;
}

/**
 * - `sale`: the order was placed
 * - `change`: an edit, exchange or return changed its value, and no money was refunded for it
 * - `refund`: money was refunded
 * - `cancellation`: it was canceled
 * - `payment`: money moved on another day than the sale, refund or cancellation
 */
export type MovementKind = "sale" | "change" | "refund" | "cancellation" | "payment";

export const movementKinds: readonly MovementKind[] = ["sale", "change", "refund", "cancellation", "payment"];

/** Gross, net and VAT at one rate, in whole cents. Gross is always net plus VAT. */
export interface VatAmounts {
  readonly grossCents: number;
  readonly netCents: number;
  readonly vatCents: number;
}

/** What happened to an order on one day, in whole cents. */
export interface Movement {
  /** yyyy-mm-dd */
  readonly day: string;
  readonly kind: MovementKind;
  /** Such as `#12`; null for money that belongs to no order. */
  readonly orderName: string | null;
  readonly orderId: string | null;
  readonly grossCents: number;
  /** By VAT rate in percent. */
  readonly byRate: ReadonlyMap<string, VatAmounts>;
  /** What each card paid; below 0 it was returned. */
  readonly cards: readonly { readonly lastFour: string; readonly cents: number }[];
  /** What each other provider captured; below 0 it was refunded. */
  readonly others: ReadonlyMap<string, number>;
  readonly moves: readonly MoneyMove[];
}

interface Draft {
  readonly kind: MovementKind;
  readonly day: string;
  readonly steps: SaleStep[];
  readonly moves: MoneyMove[];
}

interface Happened {
  readonly orderId: string | null;
  readonly orderName: string | null;
  readonly steps: readonly SaleStep[];
  readonly moves: readonly MoneyMove[];
}

/**
 * Lists what happened to an order in a period: one movement for each day and kind. Money belongs to the sale, refund or
 * cancellation of the same day; otherwise it is a movement of its own.
 */
export function movementsOf({ orderId, orderName, steps, moves }: Happened, { from, to }: Period): Movement[] {
  const drafts: Draft[] = [];
  const isWithin = (at: Date) => at >= from && at < to;
  const find = (kind: MovementKind, day: string) => drafts.find((draft) => draft.kind === kind && draft.day === day);
  const open = (kind: MovementKind, day: string) => {
    const draft = find(kind, day) ?? { kind, day, steps: [], moves: [] };
    if (!drafts.includes(draft)) drafts.push(draft);
    return draft;
  };
  for (const step of steps) {
    const at = new Date(step.at);
    if (isWithin(at)) open(step.kind, dayOf(at)).steps.push(step);
  }
  for (const move of moves.filter(({ at }) => isWithin(at))) {
    const day = dayOf(move.at);
    const kind = kindsFor(move).find((wanted) => find(wanted, day)) ?? "payment";
    open(kind, day).moves.push(move);
  }
  const sorted = drafts.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : order(a) - order(b)));
  return sorted.map((draft) => toMovement(draft, { orderId, orderName }));
}

const order = ({ kind }: Draft) => movementKinds.indexOf(kind);

/** The kinds of movement that money can belong to, the best first. */
function kindsFor({ cents, isCancel }: MoneyMove): MovementKind[] {
  if (cents >= 0) return ["sale", "change"];
  return isCancel ? ["cancellation", "refund", "change"] : ["refund", "cancellation", "change"];
}

function toMovement(
  { kind, day, steps, moves }: Draft,
  { orderId, orderName }: Pick<Movement, "orderId" | "orderName">,
): Movement {
  const byRate = new Map<string, VatAmounts>();
  for (const step of steps) {
    for (const [rate, gross] of difference(step.after, step.before)) {
      // The VAT of what is left is always exact, so a sale and its refunds add up to no VAT.
      const vat = vatCents(step.after.get(rate) ?? 0, rate) - vatCents(step.before.get(rate) ?? 0, rate);
      const { grossCents = 0, vatCents: before = 0 } = byRate.get(rate) ?? {};
      const sums = { grossCents: grossCents + gross, vatCents: before + vat };
      byRate.set(rate, { ...sums, netCents: sums.grossCents - sums.vatCents });
    }
  }
  const cards = new Map<string, number>();
  const others = new Map<string, number>();
  for (const { lastFour, providerId, cents } of moves) {
    const [sums, key] = lastFour === null ? [others, providerId] : [cards, lastFour];
    sums.set(key, (sums.get(key) ?? 0) + cents);
  }
  return {
    ...{ day, kind, orderId, orderName, byRate, others, moves },
    grossCents: [...byRate.values()].reduce((sum, { grossCents }) => sum + grossCents, 0),
    cards: [...cards].map(([lastFour, cents]) => ({ lastFour, cents })),
  };
}

/** Whether all its amounts are zero, such as those of a purchase that failed and was undone on the same day. */
export const isNothing = ({ byRate, cards, others }: Movement): boolean =>
  [...byRate.values()].every(({ grossCents, vatCents: vat }) => grossCents === 0 && vat === 0) &&
  cards.every(({ cents }) => cents === 0) &&
  [...others.values()].every((cents) => cents === 0);
