import type { Event, EventConcept, EventInput } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";

const timestamp = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Small, so that a page does not delay other calls. */
const PAGE_ROWS = 100;

/** Reads a company's rows by page, oldest first. Holds no connection between two pages. */
async function* pagesOf<Row extends { id: number }>(
  db: Queryable,
  companyId: number,
  { name, text }: { name: string; text: string },
): AsyncGenerator<Row[], undefined> {
  for (let lastId = 0; ; ) {
    const values = [companyId, lastId, PAGE_ROWS];
    const { rows } = await db.query<Row>({ name, text: `${text} order by id limit $3`, values });
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    lastId = rows[PAGE_ROWS - 1]?.id ?? 0;
  }
}

export const listEvents = (db: Queryable, companyId: number) =>
  pagesOf<Event>(db, companyId, {
    name: "list-events",
    text: `select id, company_id as "companyId", banner_url as "bannerUrl", poster_url as "posterUrl", name as title,
       introduction_text as description, organiser, start_date as date, start_time as time,
       end_date as "endDate", end_time as "endTime", ticket_link as "ticketLink",
       concat_ws(', ', nullif(building_name, ''), nullif(concat_ws(' ', nullif(street_name, ''), nullif(street_number, '')), ''),
         nullif(concat_ws(' ', nullif(zip_code, ''), nullif(city, '')), ''), nullif(country, '')) as location,
       ${timestamp("created_at")} as "createdAt", ${timestamp("updated_at")} as "updatedAt"
     from events where company_id = $1 and id > $2`,
  });

export const listEventConcepts = (db: Queryable, companyId: number) =>
  pagesOf<EventConcept>(db, companyId, {
    name: "list-event-concepts",
    text: `select id, representative, register, provider_id as "providerId",
       ${timestamp("created_at")} as "createdAt", ${timestamp("updated_at")} as "updatedAt"
     from event_concepts where company_id = $1 and id > $2`,
  });

/** Creates an event concept. @returns its id; undefined if there is no such provider */
export async function createEventConcept(
  db: Queryable,
  concept: { companyId: number; providerId: number; representative: string; register: string },
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    `insert into event_concepts (company_id, provider_id, representative, register)
       select $1, id, $3, $4 from providers where id = $2 returning id`,
    [concept.companyId, concept.providerId, concept.representative, concept.register],
  );
  return rows[0]?.id;
}

/** Returns the ids of existing providers among these. */
export async function knownProviders(db: Queryable, ids: number[]): Promise<Set<number>> {
  const { rows } = await db.query<{ id: number }>("select id from providers where id = any($1::int[])", [ids]);
  return new Set(rows.map((row) => row.id));
}

/** The text columns of an event's row, and the fields of the input that fill them. A missing text is empty. */
const TEXT_COLUMNS = {
  name: "name",
  organiser: "organiser",
  ticket_link: "ticketLink",
  building_name: "buildingName",
  street_name: "streetName",
  street_number: "streetNumber",
  zip_code: "zipCode",
  city: "city",
  country: "country",
  poster_url: "posterUrl",
  banner_url: "bannerUrl",
  introduction_text: "introductionText",
  genre: "genre",
  lineup: "lineup",
  minimum_age: "minimumAge",
  price: "price",
  video_url: "videoUrl",
  event_link: "eventLink",
} as const satisfies Record<string, keyof EventInput>;

function eventRowOf(input: EventInput) {
  const texts = Object.entries(TEXT_COLUMNS).map(([column, field]) => [column, input[field] ?? ""]);
  return {
    ...Object.fromEntries(texts),
    provider_id: input.providerId,
    start_date: input.startDate,
    start_time: input.startTime,
    end_date: input.endDate || null,
    end_time: input.endTime || null,
    activated: input.activated ?? 0,
    event_key: input.eventKey || null,
  };
}

/** The columns of an event's row, with their types. */
const eventColumns: Readonly<Record<keyof ReturnType<typeof eventRowOf>, string>> = {
  ...Object.fromEntries(Object.keys(TEXT_COLUMNS).map((column) => [column, "text"])),
  provider_id: "int",
  start_date: "date",
  start_time: "time",
  end_date: "date",
  end_time: "time",
  activated: "smallint",
  event_key: "text",
};

const COLUMNS = Object.keys(eventColumns).join(", ");

const columnTypes = Object.entries(eventColumns)
  .map(([column, type]) => `${column} ${type}`)
  .join(", ");

/**
 * Creates events in one statement, in the given order. An event whose key is taken uses no id.
 *
 * @returns the ids in the same order; undefined for an event whose key is taken
 */
export async function createEvents(
  db: Queryable,
  companyId: number,
  inputs: EventInput[],
): Promise<(number | undefined)[]> {
  const { rows } = await db.query<{ id: number | null }>(
    `with input as (
       select *, case when not exists (select 1 from events e where e.company_id = $1 and e.event_key = row.event_key)
           then nextval(pg_get_serial_sequence('events', 'id'))::int end as new_id
         from rows from (jsonb_to_recordset($2) as (${columnTypes})) with ordinality as row (${COLUMNS}, position)
     ), made as (
       insert into events (id, company_id, ${COLUMNS}) overriding system value
         select new_id, $1, ${COLUMNS} from input where new_id is not null order by position
         on conflict (company_id, event_key) do nothing returning id
     )
     select made.id from input left join made on made.id = input.new_id order by position`,
    [companyId, JSON.stringify(inputs.map(eventRowOf))],
  );
  return rows.map((row) => row.id ?? undefined);
}
