import { startPostgres } from "../../support/postgres.js";
import type { Cell, CellResult, ShopName } from "./cells.js";
import { byLineCells, shortByLineCells } from "./medusa/by-line-cells.js";
import { medusaCells, shortMedusaCells } from "./medusa/cells.js";
import { openMedusa } from "./medusa/runner.js";
import { plainByLineCells, shortPlainByLineCells } from "./plain/by-line-cells.js";
import { plainCells, shortPlainCells } from "./plain/cells.js";
import { openPlainShop } from "./plain/runner.js";
import type { CellRunner } from "./shop.js";

export type { Cell, CellResult };

const shops: Readonly<Record<ShopName, (postgresUrl: string) => Promise<CellRunner>>> = {
  medusa: (postgresUrl) => openMedusa(postgresUrl, "whole"),
  "medusa by line": (postgresUrl) => openMedusa(postgresUrl, "by-line"),
  "plain sqlite": (postgresUrl) => openPlainShop("sqlite", "whole", postgresUrl),
  "plain by line sqlite": (postgresUrl) => openPlainShop("sqlite", "by-line", postgresUrl),
  "plain postgresql": (postgresUrl) => openPlainShop("postgresql", "whole", postgresUrl),
  "plain by line postgresql": (postgresUrl) => openPlainShop("postgresql", "by-line", postgresUrl),
};

/** Every cell, in the order of a purchase. */
export const allCells = (): Cell[] => [...medusaCells(), ...byLineCells(), ...plainCells(), ...plainByLineCells()];

/** Every fault and every step at least once, and each kind of tender: what runs with the tests. */
export const shortCells = (): Cell[] => [
  ...shortMedusaCells(),
  ...shortByLineCells(),
  ...shortPlainCells(),
  ...shortPlainByLineCells(),
];

export interface MatrixOptions {
  /** Medusas side by side; the plain shops are fast enough alone. Default 2. */
  readonly workers?: number;
  /** A PostgreSQL server to use; one is started when left out. */
  readonly postgresUrl?: string;
  readonly onResult?: (result: CellResult, done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** Runs cells, each with a purchase of its own, and gives their results in the cells' order. */
export async function runMatrix(cells: readonly Cell[], options: MatrixOptions = {}): Promise<CellResult[]> {
  const { workers = 2, onResult = () => {}, signal } = options;
  const results = new Map<string, CellResult>();
  const postgres = options.postgresUrl === undefined ? await startPostgres() : null;
  const postgresUrl = options.postgresUrl ?? (postgres?.url as string);
  const work = async (open: (postgresUrl: string) => Promise<CellRunner>, jobs: (readonly Cell[])[]) => {
    let shop: CellRunner | undefined;
    try {
      for (;;) {
        const job = jobs.shift();
        if (!job || signal?.aborted) return;
        shop ??= await open(postgresUrl);
        for (const result of await runJob(shop, job)) {
          results.set(result.cell.name, result);
          onResult(result, results.size, cells.length);
        }
        await shop.restore();
      }
    } finally {
      await shop?.close();
    }
  };
  const jobsOf = (name: ShopName) => groupCells(cells.filter(({ shop }) => shop === name));
  /** Workers that do the first shop's jobs, and then the next one's. */
  const workersOf = (names: readonly ShopName[], most: number) => {
    const jobs = names.map((name) => [shops[name], jobsOf(name)] as const);
    const count = Math.min(most, Math.max(...jobs.map(([, own]) => own.length)));
    return Array.from({ length: count }, async () => {
      for (const [open, own] of jobs) await work(open, own);
    });
  };
  try {
    await Promise.all([
      ...workersOf(["medusa", "medusa by line"], workers),
      ...workersOf(["plain sqlite", "plain by line sqlite"], 1),
      ...workersOf(["plain postgresql", "plain by line postgresql"], 1),
    ]);
  } finally {
    await postgres?.stop();
  }
  return cells.flatMap((cell) => results.get(cell.name) ?? []);
}

async function runJob(shop: CellRunner, cells: readonly Cell[]): Promise<CellResult[]> {
  const startedAt = performance.now();
  try {
    return await shop.run(cells);
  } catch (error) {
    const wrong = [error instanceof Error ? error.message : String(error)];
    const seconds = (performance.now() - startedAt) / 1000;
    return cells.map((cell) => ({ cell, verdict: { outcome: "open", wrong }, calls: {}, seconds }));
  }
}

/** One death serves every kind of tender. */
function groupCells(cells: readonly Cell[]): Cell[][] {
  const jobs = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = cell.place.startsWith("kill") ? `${cell.place} ${cell.step} ${cell.point} ${cell.fault}` : cell.name;
    const job = jobs.get(key);
    if (job) job.push(cell);
    else jobs.set(key, [cell]);
  }
  return [...jobs.values()];
}
