import type { Event as ListedEvent } from "@giftcard-pay/client";
import type { EventsContext } from "../context.js";
import type { EventContent } from "../events/event-store.js";
import { type Call, readUsedIds } from "./delivery-store.js";

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
  for await (const listed of client.eachEvent()) idsOfMark.get(markOfListed(listed))?.push(listed.id);
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
