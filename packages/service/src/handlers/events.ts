import type { EventInput, Fault, RequestOf, ResponseOf } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { type Answer, type Handlers, Refusal, Replay, refuse } from "../http/handler.js";
import type { StorageRule } from "../limits/limits.js";
import type { Keyring } from "../secrets/keyring.js";
import { hasConcepts, readStorage } from "../store/company-storage.js";
import { createEventConcept, createEvents, knownProviders, listEventConcepts, listEvents } from "../store/events.js";
import { claimKey, storeAnswer } from "../store/idempotency.js";
import { listProviders } from "../store/providers.js";
import { ListTurns } from "./list-turns.js";

type EventHandlers = Pick<
  Handlers,
  "listEvents" | "createEventConcept" | "listEventConcepts" | "listProviders" | "createEvents"
>;
type Created = ResponseOf<"createEvents">;

const UNKNOWN_PROVIDER = "is not a provider of get_providers";

export function eventHandlers(pool: pg.Pool, keys: Keyring, storage: StorageRule): EventHandlers {
  const turns = new ListTurns();
  return {
    listProviders: () => listProviders(pool),
    listEvents: (_request, { companyId }) => turns.answer(companyId, listEvents(pool, companyId)),
    listEventConcepts: (_request, { companyId }) => turns.answer(companyId, listEventConcepts(pool, companyId)),

    async createEventConcept({ representative, register, providerId }, { companyId }) {
      if (await hasConcepts(pool, companyId, storage.concepts))
        return invalid("representative", fullOf("event concepts"));
      const id = await createEventConcept(pool, { companyId, providerId, representative, register });
      if (id === undefined) return invalid("eventprovider_id", UNKNOWN_PROVIDER);
      return { id, register, representative, providerId };
    },

    async createEvents({ events }, { companyId, idempotencyKey }) {
      const attempt = () => createOnce(pool, keys, { companyId, events, idempotencyKey, storage });
      const answer = await attempt();
      // After a rotation of the secrets, the same parameters have another hash.
      const looksReused = answer instanceof Refusal && answer.code === "idempotency_key_reused";
      return looksReused && (await keys.refresh()) ? attempt() : answer;
    },
  };
}

/** Creates the events, or repeats the stored answer of the key. */
function createOnce(
  pool: pg.Pool,
  keys: Keyring,
  order: { companyId: number; events: EventInput[]; idempotencyKey: string | undefined; storage: StorageRule },
): Promise<Answer<"createEvents">> {
  const { companyId, events, idempotencyKey, storage } = order;
  const use = idempotencyKey !== undefined && {
    companyId,
    keyHash: keys.idempotencyKey(idempotencyKey),
    parametersHashes: keys.parameters(JSON.stringify(events)),
  };
  // A refusal is thrown, so that the transaction is rolled back.
  return transaction<Answer<"createEvents">>(pool, async (db) => {
    if (use) {
      const claimed = await claimKey(db, use);
      if (claimed.outcome === "replayed") return new Replay<Created>(JSON.parse(claimed.answer));
      if (claimed.outcome !== "new") throw refuse(claimed.outcome);
    }
    const created = await create(db, companyId, events);
    const used = await readStorage(db, companyId);
    if (isAbove(used.events, storage.events) || isAbove(used.eventBytes, storage.eventBytes))
      throw invalid("events", fullOf("events"));
    if (use) await storeAnswer(db, use, JSON.stringify(created));
    return created;
  }).catch((error) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
}

async function create(db: Queryable, companyId: number, events: RequestOf<"createEvents">["events"]): Promise<Created> {
  const known = await knownProviders(
    db,
    events.map((event) => event.providerId),
  );
  const now = amsterdamTime(new Date());
  const faults = events.flatMap((event, index) => faultsOf(event, index, known, now));
  if (faults.length > 0) throw refuse("invalid_request", { faults });
  const ids = await createEvents(db, companyId, events);
  const created = events.map((event, index) => ({ message: "Event created", id: ids[index], title: event.name }));
  const taken = created.flatMap(({ id }, index) =>
    id === undefined ? [fault(index, "event_key", "is the key of another event of this company")] : [],
  );
  if (taken.length > 0) throw refuse("invalid_request", { faults: taken });
  return created as Created;
}

const isAbove = (count: number, limit: number) => limit > 0 && count > limit;
const fullOf = (what: string) => `exceeds what this company may store. Ask the card issuer to remove old ${what}`;

const fault = (index: number, field: string, message: string): Fault => ({ path: `events.${index}.${field}`, message });
const invalid = (path: string, message: string) => refuse("invalid_request", { faults: [{ path, message }] });

/** Finds the faults that depend on the clock or the database. */
function faultsOf(event: EventInput, index: number, known: Set<number>, now: string): Fault[] {
  const { providerId, startDate, startTime, endDate, endTime } = event;
  const faults: Fault[] = [];
  if (!known.has(providerId)) faults.push(fault(index, "eventprovider_id", UNKNOWN_PROVIDER));
  if (`${startDate} ${startTime}` <= now) faults.push(fault(index, "event_start_date", "must be in the future"));
  // An end time without an end date may be after midnight, so it is not compared.
  if (endDate && `${endDate} ${endTime || "23:59:59"}` < `${startDate} ${startTime}`) {
    faults.push(fault(index, "event_end_date", "must not be before the start"));
  }
  return faults;
}

const amsterdam = new Intl.DateTimeFormat("sv-SE", {
  timeZone: "Europe/Amsterdam",
  dateStyle: "short",
  timeStyle: "medium",
});

/** Formats the local time in Amsterdam as yyyy-mm-dd hh:mm:ss, which sorts as text. */
export const amsterdamTime = (instant: Date) => amsterdam.format(instant);
