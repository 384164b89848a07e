import { newEventLimits } from "@giftcard-pay/events";
import type { Sql } from "../context.js";
import type { EventContent } from "../events/event-store.js";

/** One call of newevent. It was recorded before it was sent. */
export interface Call {
  /** Its Idempotency-Key. */
  readonly reference: string;
  readonly items: readonly { readonly key: string; readonly content: EventContent }[];
}

/** A call whose outcome is unknown. */
export interface UnansweredCall extends Call {
  /** Whether any of its events is still published. */
  readonly isWanted: boolean;
  /** Whether it was sent, and its events last changed, more than a day ago. */
  readonly isOld: boolean;
}

/** A process's lease on a call. */
export interface Lease {
  readonly owner: string;
  readonly forMs: number;
}

/** The interface's field names are longer than ours, by at most this much per event. */
const NAMES_BYTES = 1000;

const fromNow = (ms: string) => `now() + ${ms}::float8 * interval '1 millisecond'`;

interface Sent {
  readonly key: string;
  readonly position: number;
  readonly content: EventContent;
}

const toCall = (reference: string, rows: readonly Sent[]): Call => ({
  reference,
  items: rows.toSorted((a, b) => a.position - b.position).map(({ key, content }) => ({ key, content })),
});

/**
 * Claims pending events for a new call, at most as many as one call can carry, and records the call's reference and content.
 * One statement does both, so that two processes can't claim the same event.
 *
 * @returns null if nothing is pending
 */
export async function claimPending(
  sql: Sql,
  issuer: string,
  { reference, owner, forMs }: Lease & { readonly reference: string },
): Promise<Call | null> {
  const rows = await sql<Sent>(
    `with due as (
       select d.key, e.content from giftcard_event_delivery d join giftcard_event e on e.key = d.key
       where d.issuer = $1 and d.state = 'pending' and e.state = 'published' and e.faults = '[]'::jsonb
         and (e.content ->> 'start')::timestamp > now() at time zone 'Europe/Amsterdam'
       order by d.requested_at, d.key limit ${newEventLimits.events} for update of d skip locked
     ), numbered as (
       select key, content, row_number() over place as position,
         sum(octet_length(content::text) + ${NAMES_BYTES}) over place as bytes from due window place as (order by key)
     ), call as (
       insert into giftcard_event_call (reference, issuer, lease_owner, lease_until)
       select $2, $1, $3, ${fromNow("$4")} where exists (select 1 from due) returning reference
     )
     update giftcard_event_delivery d set state = 'sending', reference = call.reference, position = numbered.position,
       content = numbered.content, sent_at = now(), attempts = d.attempts + 1
     from numbered, call where d.key = numbered.key and d.issuer = $1
       and (numbered.bytes <= ${newEventLimits.bytes} or numbered.position = 1)
     returning d.key, d.position, d.content`,
    [issuer, reference, owner, forMs],
  );
  return rows.length === 0 ? null : toCall(reference, rows);
}

/** Claims the call that has been without a response for longest, unless another process has a lease on it. */
export async function claimUnanswered(
  sql: Sql,
  issuer: string,
  { owner, forMs }: Lease,
): Promise<UnansweredCall | null> {
  const [claimed] = await sql<{ reference: string }>(
    `update giftcard_event_call set lease_owner = $2, lease_until = ${fromNow("$3")} where reference = (
       select call.reference from giftcard_event_call call where call.issuer = $1 and call.lease_until <= now()
         and exists (select 1 from giftcard_event_delivery d where d.reference = call.reference and d.state = 'sending')
       order by call.lease_until limit 1 for update skip locked
     ) returning reference`,
    [issuer, owner, forMs],
  );
  if (!claimed) return null;
  const { reference } = claimed;
  const rows = await sql<Sent & { isWanted: boolean; isOld: boolean }>(
    `update giftcard_event_delivery d set attempts = d.attempts + 1 from giftcard_event e
     where e.key = d.key and d.reference = $1 and d.state = 'sending'
     returning d.key, d.position, d.content, e.state = 'published' as "isWanted",
       greatest(d.sent_at, e.changed_at) < now() - interval '1 day' as "isOld"`,
    [reference],
  );
  return {
    ...toCall(reference, rows),
    isWanted: rows.some(({ isWanted }) => isWanted),
    isOld: rows.every(({ isOld }) => isOld),
  };
}

/** Renews the lease on a call. @returns false if another process has taken it over */
export async function renewLease(sql: Sql, reference: string, { owner, forMs }: Lease): Promise<boolean> {
  const rows = await sql(
    `update giftcard_event_call set lease_until = ${fromNow("$3")} where reference = $1 and lease_owner = $2 returning 1`,
    [reference, owner, forMs],
  );
  return rows.length === 1;
}

/** The outcome of sending an event. */
export type DeliveryOutcome =
  | {
      readonly key: string;
      readonly state: "delivered";
      readonly issuerId: number | null;
      readonly isListed: boolean;
    }
  | { readonly key: string; readonly state: "refused" | "pending"; readonly error: string };

/** Records the outcomes of a call's events. An outcome that is already recorded stays. */
export async function recordOutcomes(sql: Sql, reference: string, outcomes: readonly DeliveryOutcome[]): Promise<void> {
  await sql(
    `update giftcard_event_delivery d set state = o.state, issuer_id = coalesce(o."issuerId", d.issuer_id),
       is_listed = coalesce(o."isListed", d.is_listed), last_error = o.error,
       delivered_at = case when o.state = 'delivered' then now() end,
       reference = case when o.state = 'delivered' then d.reference end,
       position = case when o.state = 'delivered' then d.position end
     from jsonb_to_recordset($2::jsonb) as o (key text, state text, "issuerId" integer, "isListed" boolean, error text)
     where d.key = o.key and d.reference = $1 and d.state = 'sending'`,
    [reference, JSON.stringify(outcomes)],
  );
}

/** Leaves a call without a response to a later run, which tries the calls that wait longer first. */
export async function postpone(sql: Sql, reference: string, error: string): Promise<void> {
  await sql(
    `with postponed as (
       update giftcard_event_call set lease_until = now() + interval '10 seconds' where reference = $1)
     update giftcard_event_delivery set last_error = $2 where reference = $1 and state = 'sending'`,
    [reference, error],
  );
}

/** Returns which of the issuer's ids belong to other events of the shop that the issuer lists. */
export async function readUsedIds(
  sql: Sql,
  issuer: string,
  { ids, keys }: { readonly ids: readonly number[]; readonly keys: readonly string[] },
): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(
    `select issuer_id as id from giftcard_event_delivery where issuer = $1 and issuer_id = any($2::integer[])
       and is_listed and key <> all($3::text[])`,
    [issuer, ids, keys],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Requests refused events again if their content has changed. */
export async function retryChanged(sql: Sql, issuer: string): Promise<void> {
  await sql(
    `update giftcard_event_delivery d set state = 'pending' from giftcard_event e
     where e.key = d.key and d.issuer = $1 and d.state = 'refused' and d.content is distinct from e.content`,
    [issuer],
  );
}

/** Refuses pending events that have begun: newevent rejects them. An event that is moved to a later start is sent. */
export async function refuseBegun(sql: Sql, issuer: string): Promise<void> {
  await sql(
    `update giftcard_event_delivery d set state = 'refused', content = e.content, last_error = 'start must be in the future'
     from giftcard_event e where e.key = d.key and d.issuer = $1 and d.state = 'pending'
       and e.state = 'published' and e.faults = '[]'::jsonb
       and (e.content ->> 'start')::timestamp <= now() at time zone 'Europe/Amsterdam'`,
    [issuer],
  );
}

/** Deletes calls that delivered nothing. */
export async function deleteEmptyCalls(sql: Sql): Promise<void> {
  await sql(
    `delete from giftcard_event_call call where lease_until <= now()
     and not exists (select 1 from giftcard_event_delivery d where d.reference = call.reference)`,
    [],
  );
}
