import { beforeAll, describe, expect, test } from "vitest";
import type { TestCompany } from "../../../test/support/service.js";
import { amsterdamTime } from "../src/handlers/events.js";
import { serviceForFile } from "./service-for-file.js";
import { call, eventInput } from "./wire.js";

const service = serviceForFile();
let company: TestCompany;
let provider: { id: number; name: string };

beforeAll(async () => {
  company = await service.createCompany();
  provider = await service.createProvider("Kaartbureau");
});

const create = (events: unknown, as = company) => call(service.url, "createEvents", { apikey: as.apiKey, events });
const list = async (as = company) => (await call(service.url, "listEvents", { apikey: as.apiKey })).body;

describe("newevent", () => {
  test("creates events that getallevents lists under its own field names, oldest first, only for the key's company", async () => {
    const shop = await service.createCompany();
    const full = eventInput(provider.id, {
      event_name: "Lentefeest",
      event_introductiontext: "Dans tot de ochtend",
      event_end_date: "2099-06-02",
      event_end_time: "04:00:00",
      building_name: "Paradiso",
      streetname: "Weteringschans",
      streetnumber: "6-8",
      zipcode: "1017 SG",
      city: "Amsterdam",
      country: "Nederland",
      poster_url: "https://img.example.nl/p.jpg",
      banner_url: "http://img.example.nl/b.jpg",
      genre: "techno,house",
      activated: 1,
      minimumage: "18",
    });
    const made = await create([full, eventInput(provider.id, { city: "Utrecht" })], shop);
    expect(made.body).toEqual([
      { message: "Event created", id: expect.any(Number), title: "Lentefeest" },
      { message: "Event created", id: expect.any(Number), title: "Nachtconcert" },
    ]);
    const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(await list(shop)).toEqual([
      {
        id: made.body[0].id,
        company_id: shop.companyId,
        bannerpath: "http://img.example.nl/b.jpg",
        poster: "https://img.example.nl/p.jpg",
        title: "Lentefeest",
        description: "Dans tot de ochtend",
        organiser: "Zaal BV",
        date: "2099-06-01",
        time: "20:30:00",
        end_date: "2099-06-02",
        end_time: "04:00:00",
        location: "Paradiso, Weteringschans 6-8, 1017 SG Amsterdam, Nederland",
        ticket_link: "https://tickets.example.nl/1",
        created_at: stamp,
        updated_at: stamp,
      },
      expect.objectContaining({
        id: made.body[1].id,
        location: "Utrecht",
        description: "",
        poster: "",
        bannerpath: "",
        end_date: null,
        end_time: null,
      }),
    ]);
    const other = await service.createCompany();
    expect(await list(other)).toEqual([]);
  });

  test("creates all events or none, and reports the index and the fault of each invalid one", async () => {
    const before = await list();
    const answer = await create([
      eventInput(provider.id),
      eventInput(provider.id, { event_start_date: "2020-01-01" }),
      eventInput(99_999),
      eventInput(provider.id, { event_end_date: "2099-06-01", event_end_time: "20:29:59" }),
    ]);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { path: "events.1.event_start_date", message: "must be in the future" },
      { path: "events.2.eventprovider_id", message: "is not a provider of get_providers" },
      { path: "events.3.event_end_date", message: "must not be before the start" },
    ]);
    expect(await list()).toEqual(before);
  });

  test.each([
    { event_start_date: "2099-02-30" },
    { event_start_date: "01-06-2099" },
    { event_start_time: "24:00:00" },
    { event_start_time: "20:30" },
    { ticket_link: "javascript:alert(1)" },
    { poster_url: "ftp://example.nl/p.jpg" },
    { activated: 2 },
    { event_name: " " },
    { event_name: "nul\u0000" },
    { eventprovider_id: "0" },
    { event_end_date: "soon" },
  ])("refuses %j, and names the field", async (fault) => {
    const answer = await create([eventInput(provider.id, fault)]);
    expect(answer.status).toBe(422);
    expect(answer.body.errors.map((error: { path: string }) => error.path)).toEqual([
      `events.0.${Object.keys(fault)[0]}`,
    ]);
  });

  test("accepts 1 to 500 events", async () => {
    expect((await create([])).status).toBe(422);
    expect((await create("many")).status).toBe(422);
    const shop = await service.createCompany();
    const many = Array.from({ length: 500 }, (_, index) => eventInput(provider.id, { event_name: `Event ${index}` }));
    const made = await create(many, shop);
    expect(made.body.map((event: { title: string }) => event.title)).toEqual(many.map((event) => event.event_name));
    const ids = made.body.map((event: { id: number }) => event.id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect((await create([...many, eventInput(provider.id)], shop)).status).toBe(422);
    expect(await list(shop)).toHaveLength(500);
  });

  test("accepts an event_key once per company, also within one call", async () => {
    const keyed = eventInput(provider.id, { event_key: "eigen-1" });
    const twice = await create([keyed, keyed]);
    expect(twice.body.errors).toEqual([
      { path: "events.1.event_key", message: "is the key of another event of this company" },
    ]);
    expect((await create([keyed])).status).toBe(200);
    expect((await create([keyed])).status).toBe(422);
    // Keys are trimmed, as in a feed.
    expect((await create([{ ...keyed, event_key: " eigen-1\u00a0" }])).status).toBe(422);
    expect((await create([keyed], await service.createCompany())).status).toBe(200);
    const keyless = eventInput(provider.id, { event_key: "" });
    expect((await create([keyless, keyless])).status).toBe(200);
  });

  test("compares the start with the clock in Amsterdam, to the second", async () => {
    const at = (instant: number) => {
      const [date, time] = amsterdamTime(new Date(instant)).split(" ");
      return eventInput(provider.id, { event_start_date: date, event_start_time: time });
    };
    expect((await create([at(Date.now() + 60_000)])).status).toBe(200);
    expect((await create([at(Date.now() - 1000)])).status).toBe(422);
    expect(amsterdamTime(new Date("2026-07-01T10:00:00Z"))).toBe("2026-07-01 12:00:00");
    expect(amsterdamTime(new Date("2026-12-31T23:00:00Z"))).toBe("2027-01-01 00:00:00");
  });
});

describe("neweventconcept", () => {
  test("answers with its own field names, and creates a concept that is listed with the listing's field names", async () => {
    const shop = await service.createCompany();
    const wire = {
      apikey: shop.apiKey,
      representative: "J. de Vries",
      register: "Zomer",
      eventprovider_id: provider.id,
    };
    const made = await call(service.url, "createEventConcept", wire);
    expect(made.body).toEqual({
      eventconcept_id: expect.any(Number),
      register: "Zomer",
      representative: "J. de Vries",
      eventprovider_id: String(provider.id),
    });
    const { body } = await call(service.url, "listEventConcepts", { apikey: shop.apiKey });
    expect(body).toMatchObject([
      { id: made.body.eventconcept_id, ticketprovider_id: String(provider.id), register: "Zomer" },
    ]);
  });

  test.each([
    { representative: "x".repeat(151) },
    { register: "x".repeat(151) },
    { eventprovider_id: 99_999 },
    { apikey: "x".repeat(61) },
  ])("refuses %o", async (fault) => {
    const wire = {
      apikey: company.apiKey,
      representative: "J",
      register: "Z",
      eventprovider_id: provider.id,
      ...fault,
    };
    const answer = await call(service.url, "createEventConcept", wire);
    expect([answer.status, answer.body.errors[0].path]).toEqual([422, Object.keys(fault)[0]]);
  });
});

test("get_providers lists the providers without a key", async () => {
  expect((await call(service.url, "listProviders")).body).toEqual([{ id: provider.id, name: "Kaartbureau" }]);
});
