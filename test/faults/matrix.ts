import { startPostgres } from "../support/postgres.js";
import { allCells, type Cell, shortCells } from "./cells.js";
import { type CellResult, runNetworkCell } from "./run-cell.js";
import { runKill } from "./run-kill.js";
import { runRace } from "./run-race.js";
import { openWorld, type World } from "./world.js";

export type { Cell, CellResult };
export { allCells, shortCells };

/** What is run as one: a cell, or those that share a process's death. */
interface Job {
  readonly cells: Cell[];
}

export interface MatrixOptions {
  /** Worlds side by side. Default 2. */
  readonly workers?: number;
  /** A PostgreSQL server to use; one is started when left out. */
  readonly postgresUrl?: string;
  readonly onResult?: (result: CellResult, done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** Runs cells, each with a purchase of its own, and gives their results in the cells' order. */
export async function runMatrix(cells: readonly Cell[], options: MatrixOptions = {}): Promise<CellResult[]> {
  const { workers = 2, onResult = () => {}, signal } = options;
  const jobs = groupCells(cells);
  const results = new Map<string, CellResult>();
  const postgres = options.postgresUrl === undefined ? await startPostgres() : null;
  const postgresUrl = options.postgresUrl ?? (postgres?.url as string);
  const work = async () => {
    let world: World | undefined;
    try {
      for (;;) {
        const job = jobs.shift();
        if (!job || signal?.aborted) return;
        world ??= await openWorld(postgresUrl);
        for (const result of await runJob(world, job)) {
          results.set(result.cell.name, result);
          onResult(result, results.size, cells.length);
        }
        await world.restore();
      }
    } finally {
      await world?.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, work));
  } finally {
    await postgres?.stop();
  }
  return cells.flatMap((cell) => results.get(cell.name) ?? []);
}

async function runJob(world: World, { cells }: Job): Promise<CellResult[]> {
  const [cell] = cells as [Cell];
  const startedAt = performance.now();
  try {
    if (cell.place.startsWith("kill")) return await runKill(world, cells);
    if (cell.place === "two Medusas") return [await runRace(world, cell)];
    return [await runNetworkCell(world, cell)];
  } catch (error) {
    const wrong = [error instanceof Error ? error.message : String(error)];
    const seconds = (performance.now() - startedAt) / 1000;
    return cells.map((each) => ({ cell: each, verdict: { outcome: "open", wrong }, calls: {}, seconds }));
  }
}

/** One death serves every kind of tender. */
function groupCells(cells: readonly Cell[]): Job[] {
  const jobs = new Map<string, Job>();
  for (const cell of cells) {
    const key = cell.place.startsWith("kill") ? `${cell.place} ${cell.step} ${cell.point}` : cell.name;
    const job = jobs.get(key);
    if (job) job.cells.push(cell);
    else jobs.set(key, { cells: [cell] });
  }
  return [...jobs.values()];
}
