import type { DatabaseFault } from "../support/database-proxy.js";
import type { Fault } from "../support/fault-proxy.js";
import type { Outcome, Verdict } from "./verdict.js";

/** The shops that are tried. */
export const shopNames = [
  ...(["medusa", "medusa by line"] as const),
  ...(["plain sqlite", "plain by line sqlite", "plain postgresql", "plain by line postgresql"] as const),
] as const;
export type ShopName = (typeof shopNames)[number];

/** How an order is paid. */
export const tenderKinds = ["card", "card + remainder", "two cards + remainder"] as const;
/** How an order is paid where a card is charged for each unit. */
export const unitKinds = ["three units", "ten units"] as const;
export type TenderKind = (typeof tenderKinds | typeof unitKinds)[number];

/** Where in a purchase something goes wrong. Not each shop has each. */
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

/** Where the fault is: with the shopper, in a network, in a service that knows the plain interface only, in a process. */
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

/** One purchase with one thing that goes wrong. */
export interface Cell {
  /** What `--cell` takes. */
  readonly name: string;
  readonly shop: ShopName;
  readonly place: Place;
  readonly fault: string;
  readonly step: Step;
  /** Where in the step, for those that have several. */
  readonly point: string;
  readonly kind: TenderKind;
  /** How it may end. */
  readonly ends: readonly Outcome[];
}

/** What the short form takes of a shop's cells, besides what comes by turns. */
export interface ShortForm {
  /** Whether every fault comes at this cell's point, and not one by turns. */
  readonly always: (cell: Cell) => boolean;
  /** Parts of the names of those deaths that are in it; of other deaths there is none. */
  readonly deaths: readonly string[];
  /** The names of cells that found a mistake once, and that no turn brings. */
  readonly onceBad: readonly string[];
}

export type ServiceFault = Exclude<Fault, "pass"> | "refuse";
export const serviceFaults: readonly ServiceFault[] = [
  ...(["refuse", "delay", "cut-before", "cut-after", "error", "busy", "garbage", "half", "hold"] as const),
];
export const databaseFaults: readonly Exclude<DatabaseFault, "pass">[] = [
  ...(["refuse", "delay", "cut-before", "cut-after", "garbage", "half", "hold"] as const),
];

/** A cell for each fault and kind of tender. */
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

/** Every fault and every step at least once, and each kind of tender: what runs with the tests. */
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
    // The faults take turns, and so do the kinds of tender.
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
  /** Calls at the service's proxy, each with how often it came. */
  readonly calls: Readonly<Record<string, number>>;
  readonly seconds: number;
}
