import { type Cell, cellsOf, databaseFaults, type Step, serviceFaults, shorten, tenderKinds } from "../cells.js";
import type { Outcome } from "../verdict.js";
import { statements } from "./points.js";

/** The points where each process is killed: at a statement, in a call to the service, or in the bank. */
const medusaKills: readonly (readonly [Step, string])[] = [
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
const serviceKills: readonly (readonly [Step, string])[] = [
  ["quote", "before it reads"],
  ["devalue", "before it commits"],
  ["devalue", "after it committed"],
  ["remainder", "before it commits"],
  ["cancel", "before it commits"],
  ["cancel", "after it committed"],
  ["refund", "before it commits"],
  ["recovery", "before it commits"],
];
const races = ["same cart twice", "card removed and charged", "same card in two carts"] as const;

/** Steps after which a page or an admin tries again, and the purchase goes on. */
const endsOf = {
  quote: ["paid"],
  session: ["paid"],
  devalue: ["paid", "whole"],
  remainder: ["paid", "whole"],
  order: ["paid", "whole"],
  capture: ["paid"],
  cancel: ["whole"],
  refund: ["refunded"],
  recovery: ["paid", "whole"],
} as const satisfies Partial<Record<Step, readonly Outcome[]>>;
type MedusaStep = keyof typeof endsOf;

/** Faults with a known outcome: nothing arrived, or the service said what it did. */
const knowable: readonly string[] = ["refuse", "delay", "busy"];

/** Every cell of Medusa, in the order of a purchase. */
export function medusaCells(): Cell[] {
  const cells = (
    place: Cell["place"],
    step: Step,
    point: string,
    faults: readonly string[],
    ends: readonly Outcome[] | ((fault: string) => readonly Outcome[]) = endsOf[step as MedusaStep],
  ): Cell[] => {
    const kinds = tenderKinds.filter((kind) => step !== "remainder" || kind !== "card");
    return [...cellsOf({ shop: "medusa", place, step, point }, faults, kinds, ends)];
  };
  const doubtful = (step: MedusaStep) => (fault: string) =>
    step === "devalue" && knowable.includes(fault) ? endsOf.devalue : (["person"] as const);
  return [
    ...cells("none", "purchase", "purchase", [""], ["paid"]),
    ...(Object.keys(endsOf) as MedusaStep[]).flatMap((step) => {
      // These call no service, so that there is nothing to cut: they must not even need it.
      const isSilent = step === "session" || step === "capture";
      return cells("service", step, step, isSilent ? ["refuse"] : serviceFaults);
    }),
    ...(["devalue", "recovery"] as const).flatMap((step) =>
      cells("plain service", step, step, serviceFaults, doubtful(step)),
    ),
    ...Object.keys(statements).flatMap((point) =>
      cells("database", point.split(" ")[0] as Step, point, databaseFaults),
    ),
    ...medusaKills.flatMap(([step, point]) => cells("kill Medusa", step, point, ["SIGKILL"])),
    ...serviceKills.flatMap(([step, point]) => cells("kill service", step, point, ["SIGKILL"])),
    ...races.flatMap((race) => cells("two Medusas", "devalue", "devalue", [race])),
  ];
}

/** A kill takes seconds. A kill of Medusa during a refund is in the short form of the shop that charges by line. */
const shortKills = ["devalue on its way", "devalue, before it commits"];

/** Few of the cells. Races of two Medusas take ten seconds each, and recovery.test.ts has others of them. */
export const shortMedusaCells = (): Cell[] =>
  shorten(
    medusaCells().filter(
      ({ place, name }) =>
        place !== "two Medusas" &&
        (!place.startsWith("kill") || shortKills.some((kill) => name.includes(`/ ${kill} /`))),
    ),
    // These once found a bug.
    [
      "medusa / database / cut-before / cancel owed / card + remainder",
      "medusa / plain service / refuse / devalue / card",
    ],
  );
