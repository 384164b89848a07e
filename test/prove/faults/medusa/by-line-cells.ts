import { type Cell, cellsOf, type Step, serviceFaults, type TenderKind, unitKinds } from "../cells.js";
import { doubts, eachCharge as each } from "../charge-points.js";
import type { Outcome } from "../verdict.js";

const [three, ten] = [["three units"], ["ten units"]] as const satisfies TenderKind[][];

const ends = {
  purchase: ["paid"],
  devalue: ["paid", "whole"],
  again: ["paid"],
  remainder: ["paid", "whole"],
  order: ["paid", "whole"],
  decline: ["whole"],
  cancel: ["whole"],
  refund: ["refunded"],
  recovery: ["paid", "whole"],
  "give back": ["part"],
} as const satisfies Partial<Record<Step, readonly Outcome[]>>;

type Points = readonly (readonly [keyof typeof ends, string, readonly TenderKind[]])[];

/** At which statements the network to the database fails. */
const statements: Points = [
  ["devalue", "charges begun", unitKinds],
  ["devalue", "charge not sent, the middle", ten],
  ["devalue", "devalue answered, the middle", unitKinds],
  ["devalue", "devalue answered, the last", unitKinds],
  ["devalue", "card authorized", unitKinds],
  ...each.map((which) => ["order", `order committed, ${which}`, ten] as const),
  ["order", "order committed, the middle", three],
  ["decline", "cancel owed, the middle", three],
  ["decline", "refund ended, the middle", three],
  ["give back", "refund written", unitKinds],
  ["give back", "refund owed", unitKinds],
  ["give back", "refund ended", unitKinds],
  ["give back", "refund kept", unitKinds],
];

/** The points where Medusa is killed: once per purchase, at one of its charges. */
const medusaKills: Points = [
  ["devalue", "charge not sent, the middle", ten],
  ["devalue", "devalue on its way, the middle", ten],
  ["devalue", "devalue on its way, the last", three],
  ["devalue", "devalue answered, the last", ten],
  ["devalue", "card authorized", ten],
  ["remainder", "bank asked", three],
  ["order", "order committed, the middle", ten],
  ["decline", "cancel owed, the middle", three],
  ["decline", "canceldevalue on its way, the middle", three],
  ["cancel", "canceldevalue on its way, the middle", ten],
  ["recovery", "canceldevalue on its way, the middle", ten],
  // Of the three units the admin tries again at once; of the ten, whose turn comes after, once recovery has run.
  ["give back", "refund written", unitKinds],
  ["give back", "refund owed", unitKinds],
  ["give back", "canceldevalue on its way", unitKinds],
  ["give back", "refund ended", unitKinds],
  ["give back", "refund booked", unitKinds],
];

/** Actions of two Medusas at the same moment. */
const races = {
  "same cart twice": ["devalue", unitKinds, ["paid", "whole"]],
  "card removed and charged": ["devalue", ten, ["paid", "whole"]],
  "cart changed and charged": ["devalue", unitKinds, ["paid", "whole"]],
  "two sums refunded": ["refund", three, ["refunded"]],
  "given back twice": ["give back", unitKinds, ["part"]],
  "given back and refunded": ["give back", three, ["part"]],
  "given back and canceled": ["give back", unitKinds, ["part", "whole"]],
} as const satisfies Record<string, readonly [Step, readonly TenderKind[], readonly Outcome[]]>;

/** Every cell of a Medusa that charges a card for each unit, in the order of a purchase. */
export function byLineCells(): Cell[] {
  const cells = (
    place: Cell["place"],
    [step, point, kinds]: Points[number],
    faults: readonly string[],
    mayEnd: readonly Outcome[] = ends[step],
  ) => [...cellsOf({ shop: "medusa by line", place, step, point }, faults, kinds, mayEnd)];
  return [
    ...cells("none", ["purchase", "purchase", unitKinds], [""]),
    ...each.flatMap((which) =>
      cells("service", ["devalue", which, unitKinds], ["cut-after", "deny-after", "busy", "hold"]),
    ),
    ...cells("service", ["again", "the middle", unitKinds], ["cut-after", "busy", "half"]),
    ...each.flatMap((which) => cells("service", ["decline", which, three], ["refuse", "cut-after", "busy", "hold"])),
    ...cells("service", ["cancel", "the middle", ten], ["cut-before", "cut-after"]),
    ...cells("service", ["give back", "give back", unitKinds], serviceFaults),
    ...cells("plain service", ["devalue", "the middle", ten], ["cut-before", "cut-after"], ["person"]),
    ...cells("plain service", ["devalue", "the last", three], ["cut-before", "cut-after"], ["person"]),
    ...statements.flatMap((point) => cells("database", point, doubts)),
    ...medusaKills.flatMap((point) => cells("kill Medusa", point, ["SIGKILL"])),
    ...["before it commits", "after it committed"].flatMap((point) =>
      cells("kill service", ["give back", point, unitKinds], ["SIGKILL"]),
    ),
    ...Object.entries(races).flatMap(([race, [step, kinds, mayEnd]]) =>
      cells("two Medusas", [step, step, kinds], [race], mayEnd),
    ),
  ];
}

/** Cells that run with the tests: a lost charge between others, and a unit's refund that stalls or whose shop crashes. */
const SHORT = [
  "medusa by line / service / cut-after / devalue, the middle / ten units",
  "medusa by line / service / hold / give back / three units",
  "medusa by line / kill Medusa / SIGKILL / give back, canceldevalue on its way / three units",
];

export const shortByLineCells = (): Cell[] => byLineCells().filter(({ name }) => SHORT.includes(name));
