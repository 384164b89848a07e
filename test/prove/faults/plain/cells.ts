import {
  type Cell,
  cellsOf,
  databaseFaults,
  type Place,
  type ShopName,
  type Step,
  serviceFaults,
  shorten,
  type TenderKind,
  tenderKinds,
} from "../cells.js";
import type { Outcome } from "../verdict.js";
import { statements } from "./points.js";

const stepOf = (point: string) => point.split(/[ ,]/)[0] as Step;

/** The calls to the bank in which its network fails. */
const bankPoints: readonly (readonly [Step, BankOperation])[] = [
  ["remainder", "create"],
  ["return", "status"],
  ["decline", "cancel"],
  ["sweep", "status"],
  ["sweep", "cancel"],
  ["cancel", "cancel"],
];
/** The shop's calls to the bank. */
export type BankOperation = "create" | "status" | "cancel" | "refund";
export const bankOperations: Readonly<Record<string, BankOperation>> = {
  PUT: "create",
  GET: "status",
  DELETE: "cancel",
  POST: "refund",
};

/** The points where the shop crashes: during a call, or before its answer is stored. */
const shopDeaths: readonly (readonly [Step, string])[] = [
  ["quote", "balance on its way"],
  ["devalue", "devalue on its way"],
  ["devalue", "devalue answered"],
  ["remainder", "create on its way"],
  ["remainder", "create answered"],
  ["return", "status on its way"],
  ["return", "status answered"],
  ["decline", "canceldevalue on its way"],
  ["decline", "canceldevalue answered"],
  ["decline", "cancel on its way"],
  ["sweep", "status on its way"],
  ["sweep", "cancel on its way"],
  ["cancel", "canceldevalue on its way"],
  ["cancel", "canceldevalue answered"],
  ["cancel", "cancel on its way"],
  ["cancel", "cancel answered"],
  ["refund", "canceldevalue on its way"],
  ["refund", "canceldevalue answered"],
  ["recovery", "canceldevalue on its way"],
  ["recovery", "canceldevalue answered"],
];
/** The points where SQLite's file stays locked, by a backup for example, for longer than the shop waits. */
const locked: readonly (readonly [Step, string])[] = [
  ["devalue", "devalue answered"],
  ["cancel", "canceldevalue answered"],
];
const serviceKills: readonly (readonly [Step, string])[] = [
  ["quote", "before it reads"],
  ["devalue", "before it commits"],
  ["devalue", "after it committed"],
  ["decline", "before it commits"],
  ["cancel", "after it committed"],
  ["recovery", "before it commits"],
];
const bankKills: readonly (readonly [Step, string])[] = [
  ["remainder", "create on its way"],
  ["remainder", "create answered"],
  ["return", "status on its way"],
  ["cancel", "cancel on its way"],
  ["cancel", "cancel answered"],
];

/** Shoppers' actions, and their possible outcomes. */
export const shoppers = {
  declines: ["whole"],
  "closes the tab": ["whole"],
  "approves too late": ["whole"],
  "never comes back": ["paid"],
  "comes back twice": ["paid"],
  "presses twice": ["paid"],
} as const satisfies Record<string, readonly Outcome[]>;

/** Actions in two processes at once, and their possible outcomes. */
export const races = {
  "order pressed in both": ["paid"],
  "comes back in both": ["paid"],
  "comes back while it is swept": ["paid"],
  "declined while it is swept": ["whole"],
  "comes back while it is canceled": ["paid", "whole"],
  "canceled in both": ["whole"],
  // A cancel that meets a refund in work is refused.
  "refunded while it is canceled": ["whole", "refunded"],
} as const satisfies Record<string, readonly Outcome[]>;

const endsOf = (place: Place, step: Step): readonly Outcome[] => {
  if (step === "quote") return ["paid"];
  // A shopper who returns from the bank while the books can't be written gets a full refund.
  if (step === "return") return place === "database" ? ["paid", "whole"] : ["paid"];
  if (step === "decline" || step === "sweep" || step === "cancel") return ["whole"];
  return step === "refund" ? ["refunded"] : ["paid", "whole"];
};
/** Only an order with a remainder has these. */
const bankSteps: readonly Step[] = ["remainder", "return", "decline", "sweep"];

/** A point in a call to the bank. */
const bankCall = /^(?:create|status|cancel)(?: on its way| answered)?$/;

const kindsOf = (step: Step, what = ""): readonly TenderKind[] => {
  const isShoppers = what in shoppers && what !== "presses twice";
  const isAll = !bankSteps.includes(step) && !isShoppers && !bankCall.test(what);
  return tenderKinds.filter((kind) => isAll || kind !== "card");
};

/** Every cell of the plain shop, in the order of a purchase: what it is paid with takes turns. */
export function plainCells(): Cell[] {
  return [...cellsOn("plain sqlite", 0), ...cellsOn("plain postgresql", 1)];
}

function cellsOn(shop: ShopName, turn: number): Cell[] {
  let turns = turn;
  const cells = (place: Place, step: Step, point: string, faults: readonly string[]) =>
    faults.flatMap((fault) => {
      const kinds = kindsOf(step, point.replace(`${step}, `, ""));
      turns += 1;
      return [
        ...cellsOf(
          { shop, place, step, point },
          [fault],
          [kinds[turns % kinds.length] as TenderKind],
          endsOf(place, step),
        ),
      ];
    });
  // Faults between shop and service or bank don't depend on the store: half of them run with each.
  const half = (faults: readonly string[], index: number) => faults.filter((_, at) => (at + index + turn) % 2 === 0);
  const where = ([step, operation]: readonly [Step, string]) => `${step}, ${operation}`;
  const isPostgres = shop === "plain postgresql";
  const links = (["quote", "devalue", "decline", "sweep", "cancel", "refund", "recovery"] as const).flatMap(
    (step, index) => cells("service", step, step, half(serviceFaults, index)),
  );
  const banks = bankPoints.flatMap((point, index) => cells("bank", point[0], where(point), half(serviceFaults, index)));
  const database = isPostgres
    ? Object.keys(statements).flatMap((point) => cells("database", stepOf(point), point, databaseFaults))
    : locked.flatMap(([step, point]) => cells("database", step, point, ["locked"]));
  const ways = ["SIGKILL, started again", "SIGKILL, another recovers"];
  const writes = Object.keys(isPostgres ? statements : {}).map((point) => [stepOf(point), point] as const);
  const deaths = [...shopDeaths, ...writes.filter(([, point]) => !shopDeaths.some(([, one]) => one === point))];
  const kills = deaths.flatMap(([step, point], index) =>
    cells("kill shop", step, point, [ways[(index + turn) % 2] as string]),
  );
  return [
    ...cellsOf({ shop, place: "none", step: "purchase" }, [""], tenderKinds, ["paid"]),
    ...Object.entries(shoppers).flatMap(([fault, ends]) => [
      ...cellsOf({ shop, place: "shopper", step: "purchase" }, [fault], kindsOf("purchase", fault), ends),
    ]),
    ...links,
    ...banks,
    ...database,
    ...kills,
    ...serviceKills.flatMap(([step, point]) => cells("kill service", step, point, ["SIGKILL"])),
    ...bankKills.flatMap(([step, point]) => cells("kill bank", step, point, ["SIGKILL"])),
    ...Object.entries(races).flatMap(([fault, ends]) => [
      ...cellsOf({ shop, place: "two shops", step: "purchase" }, [fault], ["two cards + remainder"], ends),
    ]),
  ];
}

export const shortPlainCells = (): Cell[] => shorten(plainCells());
