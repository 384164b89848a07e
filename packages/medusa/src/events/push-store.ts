import { type Sql, sqlInterval } from "@giftcard-pay/checkout/plugin";
import { newEventLimits } from "@giftcard-pay/events";
import type { EventContent } from "./event-store.js";

/** One call of newevent: what it carries was written down before it left. */
export interface Batch {
  /** Its Idempotency-Key. */
  readonly reference: string;
  readonly items: readonly { readonly key: string; readonly sent: EventContent }[];
  /** `taken_back`: none of it is published any more. `given_up`: so for a day, and no list had it. */
  readonly wish: "wanted" | "taken_back" | "given_up";
}

/** What the interface's own names take more than ours, for each event. */
const NAMES_BYTES = 1000;

const toBatch = (
  reference: string,
  rows: Record<string, unknown>[],
  wish: Batch["wish"] = "wanted",
): Batch => ({
  reference,
  wish,
  items: rows
    .toSorted((a, b) => Number(a.position) - Number(b.position))
    .map((row) => ({ key: String(row.key), sent: row.sent as EventContent })),
});

/**
 * Takes open events that nobody is at, as many as one call takes, and writes down what is sent of each, and by which key:
 * one statement, so that no event is in two calls.
 *
 * @param lease.reference the call's Idempotency-Key
 * @returns null where nothing is to be sent
 */
export async function claimOpen(
  sql: Sql,
  service: string,
  lease: { readonly reference: string; readonly owner: string; readonly forMs: number },
): Promise<Batch | null> {
  const rows = await sql(
    `with due as (
       select push.key, event.event, event.faults from giftcard_event_push push join giftcard_event event on event.key = push.key
       where push.service = $1 and push.state = 'open' and event.state = 'published' and event.faults = '[]'::jsonb
         and (event.event ->> 'start')::timestamp > now() at time zone 'Europe/Amsterdam'
       order by push.asked_at, push.key limit ${newEventLimits.events} for update of push skip locked
     ), numbered as (
       select key, event, row_number() over place as position,
         sum(octet_length(event::text) + ${NAMES_BYTES}) over place as bytes from due window place as (order by key)
     ), batch as (
       insert into giftcard_event_batch (reference, service, lease_owner, lease_until)
       select $2, $1, $3, now() + ${sqlInterval("$4")} where exists (select 1 from due) returning reference
     )
     update giftcard_event_push push set state = 'sending', reference = batch.reference, position = numbered.position,
       sent = numbered.event, sent_at = now(), tries = push.tries + 1
     from numbered, batch where push.key = numbered.key and push.service = $1
       and (numbered.bytes <= ${newEventLimits.bytes} or numbered.position = 1)
     returning push.key, push.position, push.sent`,
    [service, lease.reference, lease.owner, lease.forMs],
  );
  return rows.length === 0 ? null : toBatch(lease.reference, rows);
}

/** Takes a call that went out, of which nobody knows the outcome, and which nobody is at: the one that waits longest. */
export async function claimUnanswered(
  sql: Sql,
  service: string,
  lease: { readonly owner: string; readonly forMs: number },
): Promise<Batch | null> {
  const [taken] = await sql(
    `update giftcard_event_batch set lease_owner = $2, lease_until = now() + ${sqlInterval("$3")} where reference = (
       select batch.reference from giftcard_event_batch batch where batch.service = $1 and batch.lease_until <= now()
         and exists (select 1 from giftcard_event_push where reference = batch.reference and state = 'sending')
       order by batch.lease_until limit 1 for update skip locked
     ) returning reference`,
    [service, lease.owner, lease.forMs],
  );
  if (!taken) return null;
  const reference = String(taken.reference);
  const rows = await sql(
    `update giftcard_event_push push set tries = push.tries + 1 from giftcard_event event
     where event.key = push.key and push.reference = $1 and push.state = 'sending'
     returning push.key, push.position, push.sent, event.state = 'published' as is_wanted,
       greatest(push.sent_at, event.changed_at) < now() - interval '1 day' as is_old`,
    [reference],
  );
  const isWanted = rows.some(({ is_wanted }) => is_wanted);
  const isOld = rows.every(({ is_old }) => is_old);
  return toBatch(reference, rows, isWanted ? "wanted" : isOld ? "given_up" : "taken_back");
}

/** Holds a call for longer. @returns false where somebody else has it by now */
export async function holdBatch(
  sql: Sql,
  reference: string,
  lease: { readonly owner: string; readonly forMs: number },
): Promise<boolean> {
  const rows = await sql(
    `update giftcard_event_batch set lease_until = now() + ${sqlInterval("$3")} where reference = $1 and lease_owner = $2 returning 1`,
    [reference, lease.owner, lease.forMs],
  );
  return rows.length === 1;
}

/**
 * What became of an event: the issuer has it, by a number where that is known, and lists it or not; or it was refused, with
 * why; or it is open again.
 */
export type PushEnd =
  | {
      readonly key: string;
      readonly state: "made";
      readonly issuerId: number | null;
      readonly isListed: boolean;
    }
  | { readonly key: string; readonly state: "refused" | "open"; readonly fault: string };

/** Writes down what became of a call's events. What is written down already stays. */
export async function endPushes(sql: Sql, reference: string, ends: readonly PushEnd[]): Promise<void> {
  await sql(
    `update giftcard_event_push push set state = ended.state, issuer_id = coalesce(ended."issuerId", push.issuer_id),
       is_listed = coalesce(ended."isListed", push.is_listed), last_error = ended.fault,
       made_at = case when ended.state = 'made' then now() end,
       reference = case when ended.state = 'made' then push.reference end,
       position = case when ended.state = 'made' then push.position end
     from jsonb_to_recordset($2::jsonb) as ended (key text, state text, "issuerId" integer, "isListed" boolean, fault text)
     where push.key = ended.key and push.reference = $1 and push.state = 'sending'`,
    [reference, JSON.stringify(ends)],
  );
}

/** Nobody knows what became of a call: whoever comes next asks again, after those that wait longer. */
export async function leaveUnanswered(sql: Sql, reference: string, fault: string): Promise<void> {
  await sql(
    `with left_ as (update giftcard_event_batch set lease_until = now() + interval '10 seconds' where reference = $1)
     update giftcard_event_push set last_error = $2 where reference = $1 and state = 'sending'`,
    [reference, fault],
  );
}

/** The issuer's numbers that other events of the shop have already, of these. One that isn't listed has none for sure. */
export async function readTakenIds(
  sql: Sql,
  service: string,
  { ids, keys }: { readonly ids: readonly number[]; readonly keys: readonly string[] },
): Promise<Set<number>> {
  const rows = await sql(
    `select issuer_id from giftcard_event_push where service = $1 and issuer_id = any($2::integer[])
       and is_listed and key <> all($3::text[])`,
    [service, ids, keys],
  );
  return new Set(rows.map(({ issuer_id }) => Number(issuer_id)));
}

/** What was refused and has changed since is sent again. */
export async function reopenMended(sql: Sql, service: string): Promise<void> {
  await sql(
    `update giftcard_event_push push set state = 'open' from giftcard_event event
     where event.key = push.key and push.service = $1 and push.state = 'refused' and push.sent is distinct from event.event`,
    [service],
  );
}

/**
 * Refuses what has begun before it was sent: newevent takes only what is to come, so it would wait for good. One that
 * gets a later start is sent.
 */
export async function refuseBegun(sql: Sql, service: string): Promise<void> {
  await sql(
    `update giftcard_event_push push set state = 'refused', sent = event.event, last_error = 'start must be in the future'
     from giftcard_event event where event.key = push.key and push.service = $1 and push.state = 'open'
       and event.state = 'published' and event.faults = '[]'::jsonb
       and (event.event ->> 'start')::timestamp <= now() at time zone 'Europe/Amsterdam'`,
    [service],
  );
}

/** Forgets calls that made nothing. One that made events stays with them. */
export async function forgetBatches(sql: Sql): Promise<void> {
  await sql(
    `delete from giftcard_event_batch batch where lease_until <= now()
     and not exists (select 1 from giftcard_event_push where reference = batch.reference)`,
    [],
  );
}
