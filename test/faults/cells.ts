import type { DatabaseFault } from "../support/database-proxy.js";
import type { Fault } from "../support/fault-proxy.js";
import type { Outcome } from "./books.js";
import type { Step } from "./purchase.js";
import { type TenderKind, tenderKinds } from "./tenders.js";

/** Where the fault is: a network, a service that knows the plain interface only, or a process that dies. */
export type Place =
  | "none"
  | "service"
  | "plain service"
  | "database"
  | "kill Medusa"
  | "kill service"
  | "two Medusas";

/** One purchase with one thing that goes wrong. */
export interface Cell {
  /** What `--cell` takes. */
  readonly name: string;
  readonly place: Place;
  readonly fault: string;
  readonly step: Step | "purchase";
  /** Where in the step, for those that have several. */
  readonly point: string;
  readonly kind: TenderKind;
  /** How it may end. */
  readonly ends: readonly Outcome[];
}

export type ServiceFault = Exclude<Fault, "pass"> | "refuse";
export const serviceFaults: readonly ServiceFault[] = [
  ...(["refuse", "delay", "cut-before", "cut-after", "error", "busy", "garbage", "half", "hold"] as const),
];
export const databaseFaults: readonly Exclude<DatabaseFault, "pass">[] = [
  ...(["refuse", "delay", "cut-before", "cut-after", "garbage", "half", "hold"] as const),
];

const moved = (state: string) => new RegExp(`update giftcard_attempt set state[\\s\\S]*${state}`);

/** The statement at which the database's network fails, for each step and point. */
export const statements: Record<string, RegExp> = {
  "quote written": /insert into giftcard_tender/,
  "session written": /insert into "payment_session"/,
  "devalue not sent": moved("sent"),
  "devalue answered": moved("devalued"),
  "remainder authorized": /insert into "payment" [\s\S]*pp_bank_bank/,
  "order written": /insert into "order" /,
  "order committed": moved("committed"),
  "capture written": /insert into "capture"/,
  "cancel owed": moved("reversing"),
  "cancel written": /update "order" set[\s\S]*canceled/,
  "refund written": /insert into "refund"/,
  "recovery claims": /skip locked/,
  "recovery ended": moved("(?:reversed|refused)"),
};

/** Where only a death leaves something: between what Medusa writes of a capture or refund, and what it does. */
export const deadlyStatements: Record<string, RegExp> = {
  ...statements,
  "capture confirmed": moved("captured"),
  "capture booked": /insert into "order_transaction"/,
  "refund owed": moved("reversing"),
  "refund booked": /insert into "order_transaction"/,
};

/** Where each process is killed: at a statement, in a call to the service, or in the bank. */
export const medusaKills: readonly (readonly [Step, string])[] = [
  ["quote", "balance on its way"],
  ["session", "session written"],
  ["devalue", "devalue not sent"],
  ["devalue", "devalue on its way"],
  ["devalue", "devalue answered"],
  ["remainder", "bank asked"],
  ["remainder", "bank authorized"],
  ["remainder", "remainder authorized"],
  ["order", "order written"],
  ["order", "order committed"],
  ["capture", "capture written"],
  ["capture", "capture confirmed"],
  ["capture", "capture booked"],
  ["cancel", "canceldevalue on its way"],
  ["cancel", "cancel written"],
  ["refund", "refund owed"],
  ["refund", "canceldevalue on its way"],
  ["refund", "refund booked"],
  ["recovery", "recovery claims"],
  ["recovery", "canceldevalue on its way"],
];
/** In the midst of the service's own transaction, or when it has committed and not yet answered. */
export const serviceKills: readonly (readonly [Step, string])[] = [
  ["quote", "before it reads"],
  ["devalue", "before it commits"],
  ["devalue", "after it committed"],
  ["remainder", "before it commits"],
  ["cancel", "before it commits"],
  ["cancel", "after it committed"],
  ["refund", "before it commits"],
  ["recovery", "before it commits"],
];
export const races = ["same cart twice", "card removed and charged", "same card in two carts"] as const;

/** Steps after which a page or an admin tries again, and the purchase goes on. */
const endsOf: Record<Step, readonly Outcome[]> = {
  quote: ["paid"],
  session: ["paid"],
  devalue: ["paid", "whole"],
  remainder: ["paid", "whole"],
  order: ["paid", "whole"],
  capture: ["paid"],
  cancel: ["whole"],
  refund: ["refunded"],
  recovery: ["paid", "whole"],
};
/** What leaves nobody in doubt: nothing arrived, or the service said what it did. */
const knowable: readonly string[] = ["refuse", "delay", "busy"];

const exists = (step: string, kind: TenderKind) => step !== "remainder" || kind !== "card";

function* cellsOf(
  place: Place,
  step: Step,
  point: string,
  faults: readonly string[],
  ends = (_: string) => endsOf[step],
): Generator<Cell> {
  for (const fault of faults) {
    for (const kind of tenderKinds.filter((kind) => exists(step, kind))) {
      const where = point === step ? point : point.startsWith(`${step} `) ? point : `${step}, ${point}`;
      const name = [place, fault, where, kind].filter(Boolean).join(" / ");
      yield { name, place, fault, step, point, kind, ends: ends(fault) };
    }
  }
}

/** Every cell, in the order of a purchase. */
export function allCells(): Cell[] {
  const cells: Cell[] = tenderKinds.map((kind) => ({
    ...{ name: `none / purchase / ${kind}`, place: "none", fault: "", step: "purchase", point: "purchase" },
    ...{ kind, ends: ["paid"] },
  }));
  for (const step of Object.keys(endsOf) as Step[]) {
    // These call no service, so that there is nothing to cut: they must not even need it.
    const isSilent = step === "session" || step === "capture";
    cells.push(...cellsOf("service", step, step, isSilent ? ["refuse"] : serviceFaults));
  }
  for (const step of ["devalue", "recovery"] as const) {
    const ends = (fault: string) =>
      step === "devalue" && knowable.includes(fault) ? endsOf.devalue : (["person"] as const);
    cells.push(...cellsOf("plain service", step, step, serviceFaults, ends));
  }
  for (const point of Object.keys(statements)) {
    const step = point.split(" ")[0] as Step;
    cells.push(...cellsOf("database", step, point, databaseFaults));
  }
  for (const [step, point] of medusaKills) cells.push(...cellsOf("kill Medusa", step, point, ["SIGKILL"]));
  for (const [step, point] of serviceKills) cells.push(...cellsOf("kill service", step, point, ["SIGKILL"]));
  for (const fault of races) cells.push(...cellsOf("two Medusas", "devalue", "devalue", [fault]));
  return cells;
}

const shortKills = [
  ...["devalue on its way", "order committed", "refund, canceldevalue on its way"],
  "devalue, before it commits",
];
/** Cells that found a mistake once, and that no turn brings. */
const onceBad = [
  "database / cut-before / cancel owed / card + remainder",
  "plain service / refuse / devalue / card",
];

/** Every fault and every step at least once, and each kind of tender: what runs with the tests. */
export function shortCells(): Cell[] {
  const all = allCells();
  const points = [...new Set(all.map(({ place, point, step }) => `${place} / ${step} / ${point}`))];
  return points.flatMap((name, turn) => {
    const cells = all.filter(({ place, point, step }) => `${place} / ${step} / ${point}` === name);
    const [{ place, step }] = cells as [Cell];
    if (place === "none") return cells;
    if (place.startsWith("kill")) {
      return cells.filter((cell) => shortKills.some((kill) => cell.name.includes(` ${kill} /`)));
    }
    const faults = [...new Set(cells.map((cell) => cell.fault))];
    // The devalue meets them all; elsewhere the faults take turns, and so do the kinds of tender.
    const isAll = (place === "service" && step === "devalue") || place === "two Medusas";
    const chosen = isAll ? faults : [faults[turn % faults.length]];
    const turns = chosen.flatMap((fault, index) => {
      const kinds = cells.filter((cell) => cell.fault === fault);
      return kinds[(turn + index) % kinds.length] ?? [];
    });
    return [...new Set([...turns, ...cells.filter((cell) => onceBad.includes(cell.name))])];
  });
}
