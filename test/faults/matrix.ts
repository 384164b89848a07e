import { startPostgres } from "../support/postgres.js";
import { type Cell, type CellResult, type ShopName, shopNames } from "./cells.js";
import { medusaCells, shortMedusaCells } from "./medusa/cells.js";
import { openMedusa } from "./medusa/runner.js";
import { plainCells, shortPlainCells } from "./plain/cells.js";
import { openPlainShop } from "./plain/runner.js";
import type { CellRunner } from "./shop.js";

export type { Cell, CellResult };

const shops: Readonly<Record<ShopName, (postgresUrl: string) => Promise<CellRunner>>> = {
  medusa: openMedusa,
  "plain sqlite": (postgresUrl) => openPlainShop("sqlite", postgresUrl),
  "plain postgresql": (postgresUrl) => openPlainShop("postgresql", postgresUrl),
};

/** Every cell, in the order of a purchase. */
export const allCells = (): Cell[] => [...medusaCells(), ...plainCells()];

/** Every fault and every step at least once, and each kind of tender: what runs with the tests. */
export const shortCells = (): Cell[] => [...shortMedusaCells(), ...shortPlainCells()];

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
  const workOf = (name: ShopName) => {
    const jobs = groupCells(cells.filter(({ shop }) => shop === name));
    const count = Math.min(name === "medusa" ? workers : 1, jobs.length);
    return Array.from({ length: count }, () => work(shops[name], jobs));
  };
  try {
    await Promise.all(shopNames.flatMap(workOf));
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
    const key = cell.place.startsWith("kill")
      ? `${cell.place} ${cell.step} ${cell.point} ${cell.fault}`
      : cell.name;
    const job = jobs.get(key);
    if (job) job.push(cell);
    else jobs.set(key, [cell]);
  }
  return [...jobs.values()];
}
