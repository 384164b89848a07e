import type { GiftcardClient, Event as ListedEvent } from "@giftcard-pay/client";
import { feedItemOf } from "@giftcard-pay/events";
import type { EventsContext, Sql } from "../context.js";
import type { EventContent } from "../events/event-store.js";
import { type Call, readUsedIds } from "./delivery-store.js";

/** The result of comparing the shop's delivered events with the issuer's list. */
export interface Comparison {
  /** The number of events that were compared. */
  readonly compared: number;
  /** Keys of events that have changed at the issuer: now equal to the shop's, gone from the list, or back in it. */
  readonly changed: readonly string[];
}

/** A delivered event. */
interface Delivered {
  readonly key: string;
  /** Detects an event that is delivered again during the comparison. */
  readonly deliveredAt: string;
  readonly issuerId: number | null;
  readonly sent: EventContent;
  readonly now: EventContent;
  readonly isPublished: boolean;
  readonly isListed: boolean;
}

/**
 * Checks in the issuer's list whether the issuer has made the shop's changes by hand, and records it. The list
 * doesn't show every field: a change of the price or the line-up can't be detected.
 *
 * @throws {GiftcardError} if the list is incomplete; then nothing is recorded
 */
export async function compareWithIssuer({ sql, client, issuer }: EventsContext): Promise<Comparison> {
  const delivered = await readDelivered(sql, issuer);
  if (delivered.length === 0) return { compared: 0, changed: [] };
  const listed = await readListed(client, delivered);
  const ids = idsOf(delivered, listed);
  const changed: Delivered[] = [];
  for (const event of delivered) {
    const issuerId = ids.get(event.key) ?? event.issuerId;
    const isListed = ids.has(event.key);
    const text = isListed && issuerId !== null ? listed.get(issuerId)?.text : undefined;
    const hasArrived = text === textOf(event.now) && text !== textOf(event.sent);
    if (hasArrived || isListed !== event.isListed || issuerId !== event.issuerId)
      changed.push({ ...event, issuerId, sent: hasArrived ? event.now : event.sent, isListed });
  }
  await writeChanged(sql, issuer, changed);
  return { compared: delivered.length, changed: changed.map(({ key }) => key) };
}

/** Reads delivered events that aren't over, the newest delivery first. */
const readDelivered = (sql: Sql, issuer: string): Promise<Delivered[]> =>
  sql(
    `select d.key, d.delivered_at::text as "deliveredAt", d.issuer_id as "issuerId", d.content as sent, e.content as now,
       e.state = 'published' as "isPublished", d.is_listed as "isListed"
     from giftcard_event_delivery d join giftcard_event e on e.key = d.key
     where d.issuer = $1 and d.state = 'delivered' and e.last_day >= current_date - 1 order by d.delivered_at desc, d.key`,
    [issuer],
  );

/** The list may have many thousands of events. */
const LIST_TIMEOUT_MS = 60_000;

/** A listed event, as far as it is compared. */
interface Listed {
  readonly mark: string;
  readonly text: string;
}

const marksOf = ({ sent, now }: Delivered) => [markOfEvent(now), markOfEvent(sent)];

/** Reads the part of the list that may be events of the shop, by the issuer's ids. */
async function readListed(client: GiftcardClient, delivered: readonly Delivered[]): Promise<Map<number, Listed>> {
  const ids = new Set(delivered.map(({ issuerId }) => issuerId));
  const marks = new Set(delivered.flatMap(marksOf));
  const listed = new Map<number, Listed>();
  for (const one of await client.listEvents({ timeoutMs: LIST_TIMEOUT_MS })) {
    const mark = markOfListed(one);
    if (ids.has(one.id) || marks.has(mark)) listed.set(one.id, { mark, text: textOfListed(one) });
  }
  return listed;
}

/**
 * Finds each event in the list: by the issuer's id and its mark, then by its mark alone, then by the id alone. An issuer that
 * restores a backup assigns ids again.
 *
 * @returns the ids of the listed events, by their keys
 */
function idsOf(delivered: readonly Delivered[], listed: ReadonlyMap<number, Listed>): Map<string, number> {
  const idsOfMark = new Map<string, number[]>();
  for (const [id, { mark }] of listed) idsOfMark.set(mark, [...(idsOfMark.get(mark) ?? []), id]);
  const found = new Map<string, number>();
  const taken = new Set<number>();
  const claim = (idsFor: (event: Delivered) => readonly number[]) => {
    for (const event of delivered) {
      const id = found.has(event.key) ? undefined : idsFor(event).find((one) => !taken.has(one));
      if (id === undefined) continue;
      found.set(event.key, id);
      taken.add(id);
    }
  };
  const ownId = ({ issuerId }: Delivered) => (issuerId !== null && listed.has(issuerId) ? [issuerId] : []);
  const idsByMark = (event: Delivered) => marksOf(event).flatMap((mark) => idsOfMark.get(mark) ?? []);
  claim((event) => ownId(event).filter((id) => idsByMark(event).includes(id)));
  claim((event) => (event.isPublished ? idsByMark(event) : []));
  claim(ownId);
  return found;
}

/** Records the issuer's copy of each event. Skips events that were delivered again during the comparison. */
async function writeChanged(sql: Sql, issuer: string, changed: readonly Delivered[]): Promise<void> {
  if (changed.length === 0) return;
  await sql(
    `update giftcard_event_delivery d set content = c.sent, issuer_id = c."issuerId", is_listed = c."isListed"
     from jsonb_to_recordset($2::jsonb) as c (key text, "deliveredAt" text, sent jsonb, "issuerId" integer, "isListed" boolean)
     where d.key = c.key and d.issuer = $1 and d.state = 'delivered' and d.delivered_at = c."deliveredAt"::timestamptz`,
    [issuer, JSON.stringify(changed)],
  );
}

/** Returns the comparable fields of a listed event as a text. */
function textOfListed(event: ListedEvent): string {
  const { title, description, organiser, location, ticketLink, posterUrl, bannerUrl } = event;
  const { date, time, endDate, endTime } = event;
  return JSON.stringify([
    ...[title, description, organiser, location, ticketLink, posterUrl, bannerUrl],
    ...[date, time, endDate ?? "", endTime ?? ""],
  ]);
}

/** Returns the same fields of an event of the shop. */
function textOf(event: EventContent): string {
  const item = feedItemOf({ ...event, state: "published" });
  const names = ["title", "description", "organiser", "location", "ticket_link", "poster", "bannerpath"];
  return JSON.stringify([...names, "date", "time", "end_date", "end_time"].map((name) => item[name] ?? ""));
}

/** The fields by which an event is recognized in the issuer's list, which doesn't have the shop's keys. */
const markOf = (title: string, organiser: string, start: string, ticketLink: string) =>
  JSON.stringify([title, organiser, start, ticketLink]);

/** Returns the mark of an event of the shop. */
export const markOfEvent = ({ title, organiser, start, ticketLink }: EventContent): string =>
  markOf(title, organiser, start, ticketLink);

/** Returns the mark of a listed event. */
export const markOfListed = ({ title, organiser, date, time, ticketLink }: ListedEvent): string =>
  markOf(title, organiser, `${date}T${time}`, ticketLink);

/**
 * Looks for events in the issuer's list by title, organiser, start and ticket link.
 *
 * @returns the issuer's ids by the shop's keys, without events that aren't listed or that another event of the shop claims
 * @throws {GiftcardError} if the list is incomplete
 */
export async function findAtIssuer(
  { sql, client, issuer }: EventsContext,
  items: Call["items"],
): Promise<Map<string, number>> {
  const idsOfMark = new Map<string, number[]>(items.map(({ content }) => [markOfEvent(content), []]));
  for (const listed of await client.listEvents({ timeoutMs: LIST_TIMEOUT_MS }))
    idsOfMark.get(markOfListed(listed))?.push(listed.id);
  const keys = items.map(({ key }) => key);
  const used = await readUsedIds(sql, issuer, { ids: [...idsOfMark.values()].flat(), keys });
  const found = new Map<string, number>();
  for (const { key, content } of items) {
    const id = idsOfMark.get(markOfEvent(content))?.find((one) => !used.has(one));
    if (id === undefined) continue;
    used.add(id);
    found.set(key, id);
  }
  return found;
}
