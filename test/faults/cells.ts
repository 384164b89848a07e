import type { DatabaseFault } from "../support/database-proxy.js";
import type { Fault } from "../support/fault-proxy.js";
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

/** Where the fault occurs: at the shopper, in a network, in a process, or in a service that supports only the plain interface. */
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
  | "freeze shop"
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

/** Cells that a shop's short form adds to those chosen in rotation. */
export interface ShortForm {
  /** Whether this cell's point gets every fault, instead of one in rotation. */
  readonly always: (cell: Cell) => boolean;
  /** Parts of the names of the crashes to include. All other crashes are left out. */
  readonly deaths: readonly string[];
  /** The names of cells that once found a bug and that the rotation doesn't choose. */
  readonly onceBad: readonly string[];
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

const pointOf = ({ place, point, step }: Cell) => `${place} / ${step} / ${point}`;

/** Chooses the cells that run with the tests: every fault, step and kind of tender at least once. */
export function shorten(all: readonly Cell[], { always, deaths, onceBad }: ShortForm): Cell[] {
  const points = [...new Set(all.map(pointOf))];
  return points.flatMap((name, turn) => {
    const cells = all.filter((cell) => pointOf(cell) === name);
    const [first] = cells as [Cell];
    if (first.place === "none") return cells;
    if (first.place.startsWith("kill") || first.place.startsWith("freeze")) {
      return cells.filter((cell) => deaths.some((death) => cell.name.includes(` ${death} /`)));
    }
    const faults = [...new Set(cells.map((cell) => cell.fault))];
    // Rotate through the faults and the kinds of tender.
    const chosen = always(first) ? faults : [faults[turn % faults.length]];
    const turns = chosen.flatMap((fault, index) => {
      const kinds = cells.filter((cell) => cell.fault === fault);
      return kinds[(turn + index) % kinds.length] ?? [];
    });
    return [...new Set([...turns, ...cells.filter((cell) => onceBad.includes(cell.name))])];
  });
}

/** How a cell ended. */
export interface CellResult {
  readonly cell: Cell;
  readonly verdict: Verdict;
  /** The number of calls at the service's proxy, by operation. */
  readonly calls: Readonly<Record<string, number>>;
  readonly seconds: number;
}
