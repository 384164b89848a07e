import { type ByRate, difference, inProportion, totalOf } from "./vat.js";

/** Something that changed what an order sold, or who paid it. */
export type SaleEvent =
  /** The order has another content since: an edit, return, exchange or claim. */
  | { readonly kind: "change"; readonly at: string }
  /** A method took money: a card when it was authorized, others when they were captured. */
  | { readonly kind: "paid"; readonly at: string; readonly cents: number }
  | {
      readonly kind: "refund";
      readonly at: string;
      readonly cents: number;
      /** How much of it was refunded before it was owed, since a card takes back only whole charges. */
      readonly aheadCents: number;
      readonly isCancel: boolean;
    }
  | { readonly kind: "cancellation"; readonly at: string };

/** A change of the value that an order has in the books, by VAT rate. */
export interface SaleStep {
  readonly kind: "sale" | "change" | "refund" | "cancellation";
  readonly at: string;
  readonly before: ByRate;
  readonly after: ByRate;
}

/** What the steps of an order depend on. */
export interface SaleHistory {
  readonly placedAt: string;
  /** The value of the order when it was placed. */
  readonly placed: ByRate;
  /** Returns the value of what the buyer keeps at a time. */
  keptAt(at: string): ByRate;
  readonly events: readonly SaleEvent[];
}

/** What comes first if two events have the same time. */
const sequence: readonly SaleEvent["kind"][] = ["paid", "change", "refund", "cancellation"];

/**
 * Lists how the value of an order changes in the books.
 *
 * The value follows what the buyer keeps, with one exception: if the buyer has paid for returned units, the value falls when
 * the money is refunded, not when the units come back. A refund beyond that, such as a goodwill gesture, lowers the value of
 * what is kept, in proportion at each rate. A cancellation lowers it to zero.
 */
export function salesOf({ placedAt, placed, keptAt, events }: SaleHistory): SaleStep[] {
  const none: ByRate = new Map();
  const steps: SaleStep[] = [];
  let [value, kept, paidCents, waivedCents, aheadCents] = [none, none, 0, 0, 0];
  let isCanceled = false;

  /** The value once everything that is owed is refunded. */
  const leastCents = () => (isCanceled ? 0 : totalOf(kept) - waivedCents - aheadCents);

  const step = (kind: SaleStep["kind"], at: string) => {
    const [least, now] = [leastCents(), totalOf(value)];
    const nextCents = isCanceled ? 0 : Math.max(least, Math.min(now, paidCents));
    const after = nextValue(value, { target: isCanceled ? none : scaleTo(kept, least), leastCents: least, nextCents });
    if (difference(after, value).size > 0) steps.push({ kind, at, before: value, after });
    value = after;
  };

  const place = () => {
    kept = placed;
    steps.push({ kind: "sale", at: placedAt, before: none, after: placed });
    value = placed;
  };

  const change = (at: string) => {
    const before = totalOf(kept);
    kept = keptAt(at);
    // What was refunded ahead has become owed.
    aheadCents -= Math.min(aheadCents, Math.max(0, before - totalOf(kept)));
  };

  const refund = ({ at, cents, aheadCents: ahead, isCancel }: SaleEvent & { kind: "refund" }) => {
    kept = keptAt(at);
    const overpaidCents = Math.max(0, paidCents - totalOf(value));
    const owedCents = Math.max(0, totalOf(value) - leastCents());
    const beyondCents = isCancel || isCanceled ? 0 : Math.max(0, cents - overpaidCents - owedCents);
    const newlyAhead = Math.min(beyondCents, ahead);
    aheadCents += newlyAhead;
    waivedCents += beyondCents - newlyAhead;
    paidCents -= cents;
  };

  const isPlacedBefore = (event: SaleEvent) => Date.parse(placedAt) <= Date.parse(event.at);
  const inOrder = events.toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || sequence.indexOf(a.kind) - sequence.indexOf(b.kind),
  );
  const early = inOrder.filter((event) => !isPlacedBefore(event));
  for (const event of early) {
    // A payment of an earlier attempt, which was refunded before the order was placed.
    if (event.kind === "paid") paidCents += event.cents;
    if (event.kind === "refund") paidCents -= event.cents;
  }
  place();
  for (const event of inOrder.filter(isPlacedBefore)) {
    if (event.kind === "paid") paidCents += event.cents;
    if (event.kind === "change") change(event.at);
    if (event.kind === "refund") refund(event);
    if (event.kind === "cancellation") isCanceled = true;
    if (event.kind !== "paid" && !(event.kind === "refund" && event.isCancel)) step(event.kind, event.at);
  }
  return steps;
}

/** Scales amounts to another total. */
function scaleTo(amounts: ByRate, totalCents: number): ByRate {
  const sum = totalOf(amounts);
  if (sum === totalCents) return amounts;
  if (sum !== 0) return inProportion(amounts, totalCents);
  const [rate = "0"] = amounts.keys();
  return new Map([...amounts, [rate, (amounts.get(rate) ?? 0) + totalCents]]);
}

interface Target {
  /** The value by rate once everything that is owed is refunded. */
  readonly target: ByRate;
  readonly leastCents: number;
  /** The total of the next value, at least `leastCents`. */
  readonly nextCents: number;
}

/** Moves a value towards its target, as far as its total may go. */
function nextValue(value: ByRate, { target, leastCents, nextCents }: Target): ByRate {
  if (nextCents === leastCents) return target;
  const stepCents = nextCents - totalOf(value);
  if (stepCents === 0) return value;
  const part = inProportion(difference(target, value), stepCents);
  const rates = new Set([...value.keys(), ...part.keys()]);
  return new Map([...rates].map((rate) => [rate, (value.get(rate) ?? 0) + (part.get(rate) ?? 0)]));
}
