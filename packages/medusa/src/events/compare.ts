import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { GiftcardClient, Event as ListedEvent } from "@giftcard-pay/client";
import { feedItemOf } from "@giftcard-pay/events";
import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import type { EventContent } from "./event-store.js";
import { markOfEvent, markOfListed } from "./issuer-list.js";
import { serviceOf } from "./push.js";

/** What the issuer's list says of events that are there. */
export interface Comparison {
  /** So many events of the shop it was asked about. */
  readonly compared: number;
  /** Keys of those that have changed there: as the shop says by now, or gone from the list, or back in it. */
  readonly changed: readonly string[];
}

/** An event as it was last known to be at the issuer. */
interface Known {
  readonly key: string;
  /** When it was sent the last time: one that is sent again meanwhile is another one. */
  readonly madeAt: string;
  readonly issuerId: number | null;
  readonly sent: EventContent;
  readonly now: EventContent;
  readonly isPublished: boolean;
  readonly isListed: boolean;
}

/**
 * Looks in the issuer's list whether what has changed here has changed there too, by the feed or by a person, and writes
 * it down. What the list doesn't show, as prices, can't be told.
 *
 * @throws {GiftcardError} where the list doesn't come whole; nothing is written down then
 */
export async function compareWithIssuer(container: MedusaContainer): Promise<Comparison> {
  const context = contextOf(container);
  const { sql, client } = context;
  const service = serviceOf(context);
  const known = await readKnown(sql, service);
  if (known.length === 0) return { compared: 0, changed: [] };
  const listed = await readListed(client, known);
  const numbers = numbersOf(known, listed);
  const found: Known[] = [];
  for (const event of known) {
    const issuerId = numbers.get(event.key) ?? event.issuerId;
    const isListed = numbers.has(event.key);
    const text = isListed && issuerId !== null ? listed.get(issuerId)?.text : undefined;
    const hasArrived = text === textOf(event.now) && text !== textOf(event.sent);
    if (hasArrived || isListed !== event.isListed || issuerId !== event.issuerId)
      found.push({ ...event, issuerId, sent: hasArrived ? event.now : event.sent, isListed });
  }
  await writeCompared(sql, service, found);
  return { compared: known.length, changed: found.map(({ key }) => key) };
}

/** What is there, and isn't over. */
async function readKnown(sql: Sql, service: string): Promise<Known[]> {
  const rows = await sql(
    `select push.key, push.made_at::text, push.issuer_id, push.sent, push.is_listed, event.event, event.state
     from giftcard_event_push push join giftcard_event event on event.key = push.key
     where push.service = $1 and push.state = 'made' and event.last_day >= current_date - 1 order by push.made_at desc, push.key`,
    [service],
  );
  return rows.map(({ key, made_at, issuer_id, sent, is_listed, event, state }) => ({
    key: String(key),
    madeAt: String(made_at),
    issuerId: issuer_id as number | null,
    sent: sent as EventContent,
    now: event as EventContent,
    isPublished: state === "published",
    isListed: is_listed === true,
  }));
}

/** An event of the list, as far as it is compared. */
interface Listed {
  readonly mark: string;
  readonly text: string;
}

const marksOf = ({ sent, now }: Known) => [markOfEvent(now), markOfEvent(sent)];

/** What of the list may be an event of the shop, by the issuer's numbers. */
async function readListed(client: GiftcardClient, known: readonly Known[]): Promise<Map<number, Listed>> {
  const ids = new Set(known.map(({ issuerId }) => issuerId));
  const marks = new Set(known.flatMap(marksOf));
  const listed = new Map<number, Listed>();
  for await (const one of client.eachEvent()) {
    const mark = markOfListed(one);
    if (ids.has(one.id) || marks.has(mark)) listed.set(one.id, { mark, text: textOfListed(one) });
  }
  return listed;
}

/**
 * Finds each event in the list: by its number; or, where that isn't known or isn't listed, by what it says. An issuer who
 * went back to a backup gives numbers out again: then it is the one that the list describes.
 *
 * @returns the numbers of those that are listed, by their keys
 */
function numbersOf(known: readonly Known[], listed: ReadonlyMap<number, Listed>): Map<string, number> {
  const owners = new Map<number, Known>();
  for (const one of known) {
    const own = one.issuerId === null ? undefined : listed.get(one.issuerId);
    if (one.issuerId === null || !own) continue;
    const other = owners.get(one.issuerId);
    if (!other || (!marksOf(other).includes(own.mark) && marksOf(one).includes(own.mark)))
      owners.set(one.issuerId, one);
  }
  const placed = new Set(owners.values());
  const idsOfMark = new Map<string, number[]>();
  for (const [id, { mark }] of listed)
    if (!owners.has(id)) idsOfMark.set(mark, [...(idsOfMark.get(mark) ?? []), id]);
  for (const one of known.filter((each) => each.isPublished && !placed.has(each))) {
    const ids = marksOf(one).flatMap((mark) => idsOfMark.get(mark) ?? []);
    const id = ids.find((each) => !owners.has(each));
    if (id !== undefined) owners.set(id, one);
  }
  return new Map([...owners].map(([id, { key }]) => [key, id]));
}

/** Writes down what was found, as it was compared: what is edited meanwhile is another difference. */
async function writeCompared(sql: Sql, service: string, found: readonly Known[]): Promise<void> {
  if (found.length === 0) return;
  await sql(
    `update giftcard_event_push push set sent = found.sent, issuer_id = found."issuerId", is_listed = found."isListed"
     from jsonb_to_recordset($2::jsonb) as found (key text, "madeAt" text, sent jsonb, "issuerId" integer, "isListed" boolean)
     where push.key = found.key and push.service = $1 and push.state = 'made' and push.made_at = found."madeAt"::timestamptz`,
    [service, JSON.stringify(found.map(({ now: _now, ...one }) => one))],
  );
}

/** What the list shows of an event, so that two can be compared. */
function textOfListed({
  title,
  description,
  organiser,
  location,
  ticketLink,
  ...other
}: ListedEvent): string {
  const { date, time, endDate, endTime, posterUrl, bannerUrl } = other;
  const fields = [title, description, organiser, location, ticketLink, posterUrl, bannerUrl];
  return JSON.stringify([...fields, date, time, endDate ?? "", endTime ?? ""]);
}

/** The same of an event of the shop. */
function textOf(event: EventContent): string {
  const item = feedItemOf({ ...event, state: "published" });
  const names = ["title", "description", "organiser", "location", "ticket_link", "poster", "bannerpath"];
  return JSON.stringify([...names, "date", "time", "end_date", "end_time"].map((name) => item[name] ?? ""));
}
