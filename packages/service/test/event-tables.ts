import type pg from "pg";
import { transaction } from "../dist/database/database.js";
import { createEvents, listEvents } from "../dist/store/events.js";

/** Creates a company without an account. */
export async function newCompany(db: pg.Pool): Promise<number> {
  const { rows } = await db.query("insert into companies (name) values ('A shop') returning id");
  return rows[0].id;
}

/** Returns all events that `getallevents` lists. */
export async function listedEvents(db: pg.Pool, companyId: number) {
  const all = [];
  for await (const page of listEvents(db, companyId)) all.push(...page);
  return all;
}

/** Creates an event as `newevent` does. Returns false if the company already has an event with this key. */
export async function createOwnEvent(
  db: pg.Pool,
  companyId: number,
  { key, name, providerId }: { key: string; name: string; providerId: number },
): Promise<boolean> {
  const about = { organiser: "Zaal BV", startDate: "2099-01-01", startTime: "20:00:00" };
  const ticketLink = "https://tickets.example.nl/";
  const input = { providerId, name, eventKey: key, ticketLink, ...about };
  const [id] = await transaction(db, (client) => createEvents(client, companyId, [input]));
  return id !== undefined;
}
