import { randomUUID } from "node:crypto";
import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { Logger, MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { nameOf } from "../errors.js";
import { type Reason, sentencesOf } from "../sentences.js";

const REPORT_MS = 20_000;
/** A process that has not reported for so long is down. */
const LIFE_SECONDS = 60;
/** A command such as `medusa db:migrate` starts the module too. It ends before its second report, and does not count. */
const SETTLED_SECONDS = 15;
/** By then the processes of a deployment before this one have ended. */
const WARN_AFTER_MS = 80_000;
/** A completion with `locking-postgres` needs one connection to wait and others to work. */
const LEAST_CONNECTIONS = 4;

const IN_MEMORY = "in-memory";
const IN_POSTGRES = "locking-postgres";

/** The Medusa processes that share a database. */
export interface ProcessReport {
  readonly count: number;
  /** Medusa's locking providers, such as `in-memory`, `locking-postgres` or `locking-redis`. */
  readonly locks: readonly string[];
  /** The most connections of all processes together. */
  readonly connections: number;
  /** Explains what does not fit together. */
  readonly warnings: readonly Reason[];
}

/** Reports this process to the others in Medusa's database, and reads what they report. */
export function createProcesses(sql: Sql, logger: Logger, connections: number) {
  const id = randomUUID();
  const timers: NodeJS.Timeout[] = [];

  const report = (lock: string) =>
    sql(
      `insert into giftcard_process (id, lock, connections) values ($1, $2, $3)
       on conflict (id) do update set seen_at = now()`,
      [id, lock, connections],
    ).catch((error: unknown) => logger.debug(`giftcard: this process could not report itself: ${nameOf(error)}`));

  async function read(): Promise<ProcessReport> {
    const [row] = await sql(
      `select count(*)::integer as count, coalesce(sum(connections), 0)::integer as connections,
         coalesce(array_agg(distinct lock), '{}') as locks, coalesce(min(connections), 0)::integer as fewest
       from giftcard_process where seen_at > now() - interval '${LIFE_SECONDS} seconds'
         and (id = $1 or seen_at - started_at >= interval '${SETTLED_SECONDS} seconds')`,
      [id],
    );
    const { fewest, ...report } = row as unknown as Found;
    return { ...report, warnings: warningsOf({ fewest, ...report }) };
  }

  async function warn(): Promise<void> {
    const { warnings } = await read();
    for (const warning of warnings) logger.warn(`giftcard: ${sentencesOf([warning])}`);
  }

  return {
    read,
    /** Begins to report this process. */
    start(container: MedusaContainer): void {
      const lock = lockOf(container);
      void report(lock);
      timers.push(setInterval(() => void report(lock), REPORT_MS).unref());
      timers.push(setTimeout(() => void warn().catch(() => {}), WARN_AFTER_MS).unref());
    },
    async stop(): Promise<void> {
      for (const timer of timers) clearTimeout(timer);
      await sql(`delete from giftcard_process where id = $1 or seen_at < now() - interval '1 day'`, [id]).catch(
        () => [],
      );
    },
  };
}

/** The identifier of Medusa's default locking provider. The name in Medusa's configuration may be any. */
function lockOf(container: MedusaContainer): string {
  const locking = container.resolve(Modules.LOCKING) as unknown as {
    defaultProviderId: string;
    providerService_?: { retrieveProviderRegistration(id: string): { constructor: { identifier?: string } } };
  };
  const id = locking.defaultProviderId;
  return locking.providerService_?.retrieveProviderRegistration(id).constructor.identifier ?? id ?? "unknown";
}

type Found = Omit<ProcessReport, "warnings"> & { readonly fewest: number };

function warningsOf({ count, locks, fewest }: Found): Reason[] {
  const warnings: Reason[] = [];
  if (count > 1 && locks.includes(IN_MEMORY)) warnings.push({ code: "memoryLocks", values: { count } });
  else if (locks.length > 1) warnings.push({ code: "differentLocks", values: { locks: locks.join(", ") } });
  if (locks.includes(IN_POSTGRES) && fewest < LEAST_CONNECTIONS)
    warnings.push({ code: "fewConnections", values: { connections: fewest, least: LEAST_CONNECTIONS } });
  return warnings;
}
