import type { DatabaseFault } from "../../support/database-proxy.js";
import type { Fault } from "../../support/fault-proxy.js";
import type { Outcome, Verdict } from "./verdict.js";

/** The shops under test. */
export const shopNames = [
  ...(["medusa", "medusa by line"] as const),
  ...(["plain sqlite", "plain by line sqlite", "plain postgresql", "plain by line postgresql"] as const),
] as const;
export type ShopName = (typeof shopNames)[number];

/** How an order is paid. */
export const tenderKinds = ["card", "card + remainder", "two cards + remainder"] as const;
/** How an order is paid if its card is charged for each unit. */
export const unitKinds = ["three units", "ten units"] as const;
export type TenderKind = (typeof tenderKinds | typeof unitKinds)[number];

/** The step of a purchase at which a fault occurs. Not every shop has every step. */
export type Step =
  | "purchase"
  | "quote"
  | "session"
  | "devalue"
  | "again"
  | "remainder"
  | "order"
  | "return"
  | "decline"
  | "sweep"
  | "capture"
  | "cancel"
  | "refund"
  | "give back"
  | "give several back"
  | "recovery";

/** The place of the fault: at the shopper, in a network, in a process, or in a service that supports only the plain interface. */
export type Place =
  | "none"
  | "shopper"
  | "service"
  | "plain service"
  | "bank"
  | "database"
  | "kill Medusa"
  | "kill shop"
  | "kill service"
  | "kill bank"
  | "two Medusas"
  | "two shops";

/** One purchase with one fault. */
export interface Cell {
  /** The value that `--cell` accepts. */
  readonly name: string;
  readonly shop: ShopName;
  readonly place: Place;
  readonly fault: string;
  readonly step: Step;
  /** The point within the step, if the step has several. */
  readonly point: string;
  readonly kind: TenderKind;
  /** The outcomes that are allowed. */
  readonly ends: readonly Outcome[];
}

export type ServiceFault = Exclude<Fault, "pass"> | "refuse";
export const serviceFaults: readonly ServiceFault[] = [
  ...(["refuse", "delay", "cut-before", "cut-after", "error", "busy", "garbage", "half", "hold"] as const),
];
export const databaseFaults: readonly Exclude<DatabaseFault, "pass">[] = [
  ...(["refuse", "delay", "cut-before", "cut-after", "garbage", "half", "hold"] as const),
];

/** Yields a cell for each fault and kind of tender. */
export function* cellsOf(
  { shop, place, step, point = step }: Pick<Cell, "shop" | "place" | "step"> & { point?: string },
  faults: readonly string[],
  kinds: readonly TenderKind[],
  ends: readonly Outcome[] | ((fault: string) => readonly Outcome[]),
): Generator<Cell> {
  const isNamed = point === step || point.startsWith(`${step} `) || point.startsWith(`${step}, `);
  const where = isNamed ? point : `${step}, ${point}`;
  for (const fault of faults) {
    for (const kind of kinds) {
      const name = [shop, place, fault, where, kind].filter(Boolean).join(" / ");
      const mayEnd = typeof ends === "function" ? ends(fault) : ends;
      yield { name, shop, place, fault, step, point, kind, ends: mayEnd };
    }
  }
}

/** Chooses few cells that together have every place, fault, step, kind of tender and shop. */
export function shorten(all: readonly Cell[], always: readonly string[] = []): Cell[] {
  const aspectsOf = ({ place, fault, step, kind, shop }: Cell) => [place, fault, step, kind, shop];
  const chosen: Cell[] = [];
  const covered = new Set<string>();
  const choose = (cell: Cell) => {
    chosen.push(cell);
    for (const aspect of aspectsOf(cell)) covered.add(aspect);
  };
  /** The number of new aspects. Of equal cells, one of the shop with the fewest is better. */
  const worthOf = (cell: Cell) =>
    aspectsOf(cell).filter((aspect) => !covered.has(aspect)).length -
    chosen.filter(({ shop }) => shop === cell.shop).length / all.length;
  for (const cell of all.filter(({ name }) => always.includes(name))) choose(cell);
  for (;;) {
    const best = all.reduce((most, cell) => (worthOf(cell) > worthOf(most) ? cell : most));
    if (aspectsOf(best).every((aspect) => covered.has(aspect))) return all.filter((cell) => chosen.includes(cell));
    choose(best);
  }
}

/** How a cell ended. */
export interface CellResult {
  readonly cell: Cell;
  readonly verdict: Verdict;
  /** The number of calls at the service's proxy, by operation. */
  readonly calls: Readonly<Record<string, number>>;
  readonly seconds: number;
}
