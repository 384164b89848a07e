import {
  type Cell,
  cellsOf,
  type Place,
  type ShopName,
  type Step,
  serviceFaults,
  type TenderKind,
  unitKinds,
} from "../cells.js";
import { doubts, eachCharge } from "../charge-points.js";
import type { Outcome } from "../verdict.js";

const [three, ten] = [["three units"], ["ten units"]] as const satisfies TenderKind[][];

const ends = {
  purchase: ["paid"],
  devalue: ["paid", "whole"],
  return: ["paid"],
  decline: ["whole"],
  cancel: ["whole"],
  refund: ["refunded"],
  recovery: ["paid", "whole"],
  "give back": ["part"],
  "give several back": ["part"],
} as const satisfies Partial<Record<Step, readonly Outcome[]>>;

type Points = readonly (readonly [keyof typeof ends, string, readonly TenderKind[]])[];

/** At which statements the network to PostgreSQL fails. Only of three units the bank pays a part. */
const statements: Points = [
  ["devalue", "charges begun", ten],
  ["devalue", "devalue answered, the middle", three],
  ["devalue", "card committed, the middle", ten],
  ["decline", "charge owed, the middle", three],
  ["give back", "refund begun", three],
  ["give back", "charge owed", ten],
  ["give several back", "charge back, the middle", ten],
  ["give back", "bank's turn", three],
  ["give back", "refund done", ten],
];

/** The points where the shop crashes: during a call, or before its answer is stored. */
const calls: Points = [
  ["devalue", "devalue on its way, the middle", ten],
  ["devalue", "devalue answered, the middle", three],
  ["devalue", "devalue answered, the last", ten],
  ["decline", "canceldevalue on its way, the middle", three],
  ["cancel", "canceldevalue answered, the middle", ten],
  ["recovery", "canceldevalue on its way, the middle", ten],
  ["give back", "canceldevalue on its way", three],
  ["give several back", "canceldevalue on its way, the last", ten],
  ["give several back", "canceldevalue answered, the middle", ten],
  // The card's part is back, the bank's isn't, or nobody knows.
  ["give back", "refund on its way", three],
  ["give back", "refund answered", three],
];

/** The points where SQLite's file stays locked for longer than the shop waits. */
const locked: Points = [
  ["give back", "canceldevalue answered", three],
  ["give back", "refund answered", three],
];

/** Actions in two processes at once, and their possible outcomes. */
export const races = {
  "order pressed in both": ["devalue", ten, ["paid"]],
  "given back in both": ["give back", unitKinds, ["part"]],
  "two given back": ["give back", unitKinds, ["part"]],
  "given back while the card's part is recovered": ["give back", unitKinds, ["part"]],
  "given back while the bank's part is recovered": ["give back", three, ["part"]],
  "given back and canceled": ["give back", unitKinds, ["part", "whole"]],
  // The second one may be refused while the first is at work.
  "given back and cards refunded": ["give back", ten, ["part", "refunded"]],
} as const satisfies Record<string, readonly [Step, readonly TenderKind[], readonly Outcome[]]>;

/** Every cell of a plain shop that charges a card for each unit, in the order of a purchase. */
export function plainByLineCells(): Cell[] {
  return [...cellsOn("plain by line sqlite", 0), ...cellsOn("plain by line postgresql", 1)];
}

/** The fates of one charge's call: each way of losing it, a slow one, and a refusal that is believed or not. */
const lost = ["cut-before", "cut-after", "delay", "busy", "deny-after", "hold"];
const ways = ["SIGKILL, started again", "SIGKILL, another recovers"];

function cellsOn(shop: ShopName, turn: number): Cell[] {
  const cells = (
    place: Place,
    [step, point, kinds]: Points[number],
    faults: readonly string[],
    mayEnd: readonly Outcome[] = ends[step],
  ) => [...cellsOf({ shop, place, step, point }, faults, kinds, mayEnd)];
  // Faults between shop and service or bank don't depend on the store: half of them run with each.
  const half = (faults: readonly string[], index: number) => faults.filter((_, at) => (at + index + turn) % 2 === 0);
  /** Alternates the tenders of an order. */
  const oneKind = (kinds: readonly TenderKind[], index: number) =>
    [kinds[(index + turn) % kinds.length] as TenderKind] as const;
  return [
    ...cells("none", ["purchase", "purchase", unitKinds], [""]),
    ...eachCharge.flatMap((which, index) =>
      half(lost, index).flatMap((fault, at) =>
        cells("service", ["devalue", which, oneKind(unitKinds, index + at)], [fault]),
      ),
    ),
    ...eachCharge.flatMap((which, index) => cells("service", ["decline", which, three], half(doubts, index))),
    ...(["cancel", "refund", "recovery"] as const).flatMap((step, index) =>
      cells("service", [step, "the middle", ten], half(doubts, index)),
    ),
    ...half(serviceFaults, 0).flatMap((fault, index) =>
      cells("service", ["give back", "give back", oneKind(unitKinds, index)], [fault]),
    ),
    ...eachCharge.flatMap((which, index) =>
      cells("service", ["give several back", which, oneKind(unitKinds, index)], half(doubts, index)),
    ),
    ...cells("bank", ["give back", "give back, refund", three], half(["refuse", "error", ...doubts], 0)),
    ...cells("bank", ["give back", "give back, canceldevalue and refund", three], half(doubts, 0)),
    ...(turn === 0
      ? locked.flatMap((point) => cells("database", point, ["locked"]))
      : statements.flatMap((point) => cells("database", point, doubts))),
    ...deathsOn(turn).flatMap((point, index) => cells("kill shop", point, [ways[(index + turn) % 2] as string])),
    ...["before it commits", "after it committed"].flatMap((point, index) =>
      cells("kill service", ["give back", point, oneKind(unitKinds, index)], ["SIGKILL"]),
    ),
    ...["refund on its way", "refund answered"].flatMap((point) =>
      cells("kill bank", ["give back", point, three], ["SIGKILL"]),
    ),
    ...Object.entries(races).flatMap(([race, [step, kinds, mayEnd]], index) =>
      cells("two shops", [step, step, oneKind(kinds, index)], [race], mayEnd),
    ),
  ];
}

/** Only on its way to PostgreSQL a statement can be met by a death. */
function deathsOn(turn: number): Points {
  const writes = statements.filter(([, point]) => !calls.some(([, one]) => one === point));
  return turn === 0 ? calls : [...calls, ...writes];
}

/** Cells that run with the tests: a lost charge between others, a crash between card and bank, two returns at once. */
const SHORT = [
  "plain by line sqlite / service / cut-after / devalue, the middle / ten units",
  "plain by line postgresql / kill shop / SIGKILL, another recovers / give back, refund on its way / three units",
  "plain by line sqlite / two shops / two given back / give back / three units",
];

export const shortPlainByLineCells = (): Cell[] => plainByLineCells().filter(({ name }) => SHORT.includes(name));
