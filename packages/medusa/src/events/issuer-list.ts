import type { Sql } from "@giftcard-pay/checkout/plugin";
import type { GiftcardClient, Event as ListedEvent } from "@giftcard-pay/client";
import type { EventContent } from "./event-store.js";
import { type Batch, readTakenIds } from "./push-store.js";

/** What an event is recognised by in the issuer's list, which has no keys of the shop. */
const markOf = (title: string, organiser: string, start: string, ticketLink: string) =>
  JSON.stringify([title, organiser, start, ticketLink]);

/** The same of an event of the shop. */
export const markOfEvent = ({ title, organiser, start, ticketLink }: EventContent): string =>
  markOf(title, organiser, start, ticketLink);

/** The same of an event in the list. */
export const markOfListed = ({ title, organiser, date, time, ticketLink }: ListedEvent): string =>
  markOf(title, organiser, `${date}T${time}`, ticketLink);

/**
 * Looks for events in the issuer's list: those with the same title, organiser, start and ticket link that no other event
 * of the shop has.
 *
 * @returns the issuer's numbers, by our keys; what isn't there is left out
 * @throws {GiftcardError} where the list doesn't come whole
 */
export async function findAtIssuer(
  sql: Sql,
  client: GiftcardClient,
  service: string,
  items: Batch["items"],
): Promise<Map<string, number>> {
  const idsOfMark = new Map<string, number[]>(items.map(({ sent }) => [markOfEvent(sent), []]));
  for await (const listed of client.eachEvent()) idsOfMark.get(markOfListed(listed))?.push(listed.id);
  const keys = items.map(({ key }) => key);
  const taken = await readTakenIds(sql, service, { ids: [...idsOfMark.values()].flat(), keys });
  const found = new Map<string, number>();
  for (const { key, sent } of items) {
    const id = idsOfMark.get(markOfEvent(sent))?.find((one) => !taken.has(one));
    if (id === undefined) continue;
    taken.add(id);
    found.set(key, id);
  }
  return found;
}
