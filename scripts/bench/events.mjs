/** Measures how long it takes to read and check a long list of events, and to write it in each format. */

import { formats } from "../../packages/events/dist/cli/formats.js";
import { csv, readCsv } from "../../packages/events/dist/formats/csv.js";
import { writeEvents } from "../../packages/events/dist/index.js";
import { median } from "./load.mjs";

/** @typedef {import("../../packages/events/dist/index.js").ShopEvent} ShopEvent */
/** @typedef {import("../../packages/events/dist/index.js").EventFormat} EventFormat */

const EVENTS = 5000;
const ROUNDS = 5;

/** Generates events with every field set. @returns {Iterable<ShopEvent>} */
function* manyEvents() {
  for (let index = 0; index < EVENTS; index++) {
    const day = new Date(Date.UTC(2036, 0, 1 + (index % 300))).toISOString().slice(0, 10);
    yield {
      key: `show-${index}`,
      title: "Lentenacht",
      organiser: "Zaal Noord BV",
      start: `${day}T20:30:00`,
      end: `${day}T23:00:00`,
      timeZone: "Europe/Amsterdam",
      venue: {
        name: "Zaal Noord",
        streetName: "Noordkade",
        streetNumber: "12",
        zipCode: "1021 AB",
        city: "Amsterdam",
        country: "Nederland",
      },
      description: "Twaalf uur house, in twee zalen. ".repeat(30),
      genres: ["house", "techno"],
      lineup: ["De Artiest", "The Other"],
      minimumAgeYears: 18,
      priceFromCents: /** @type {ShopEvent["priceFromCents"] & number} */ (2450),
      posterUrl: "https://tickets.example/poster.jpg",
      bannerUrl: "https://tickets.example/banner.jpg",
      ticketLink: `https://tickets.example/${index}`,
      eventLink: `https://zaal.example/${index}`,
      providerId: 1,
      state: "published",
      updatedAt: "2036-01-01T12:00:00.000Z",
    };
  }
}

/** @param {EventFormat} format */
async function textOf(format) {
  let text = "";
  for await (const piece of writeEvents(manyEvents(), format)) text += piece;
  return text;
}

/** "json-ld" → "JsonLd" @param {string} name */
const capital = (name) => name.replaceAll(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());

/** @param {() => unknown} work @returns {Promise<number>} the median of the rounds, in seconds */
async function secondsOf(work) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    await work();
    times.push((performance.now() - startedAt) / 1000);
  }
  return Number(median(times).toFixed(2));
}

/** Returns the seconds that 5,000 events take: to read and check them, and to write them in each format. */
export async function benchEvents() {
  const table = await textOf(csv);
  /** @type {Record<string, number>} */
  const result = { eventsFromCsvSeconds: await secondsOf(() => readCsv(table)) };
  const all = [...manyEvents()];
  for (const [name, make] of Object.entries(formats))
    result[`eventsTo${capital(name)}Seconds`] = await secondsOf(() => textOf(make(all)));
  return result;
}
