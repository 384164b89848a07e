import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instantOf, isOnClock, isTimeZone, localTimeAt, withOffset } from "../src/clock.js";
import { timeZone } from "./shop-events.js";

const moment = fc
  .date({ min: new Date("2027-01-01"), max: new Date("2037-01-01"), noInvalidDate: true })
  .map((date) => new Date(Math.floor(date.getTime() / 1000) * 1000));

/** Returns the time on the zone's clocks, by Node's own tables. */
const shownAt = (instant: Date, zone: string) => instant.toLocaleString("sv-SE", { timeZone: zone }).replace(" ", "T");

describe("a zone", () => {
  test("maps a local time to its instant, or to the first if it occurs twice", () => {
    fc.assert(
      fc.property(moment, timeZone, (instant, zone) => {
        const shown = localTimeAt(instant, zone);
        expect(shown).toBe(shownAt(instant, zone));
        expect(isOnClock(shown, zone)).toBe(true);
        const read = instantOf(shown, zone);
        expect(shownAt(read, zone)).toBe(shown);
        expect(read.getTime()).toBeLessThanOrEqual(instant.getTime());
        expect(new Date(withOffset(shown, zone))).toEqual(read);
      }),
      {
        numRuns: 500,
        examples: [
          [new Date("2036-10-26T00:30:00Z"), "Europe/Amsterdam"],
          [new Date("2036-10-26T01:30:00Z"), "Europe/Amsterdam"],
        ],
      },
    );
  });

  test("has no instant for a skipped local time", () => {
    fc.assert(
      fc.property(moment, timeZone, (instant, zone) => {
        const local = instant.toISOString().slice(0, 19);
        expect(isOnClock(local, zone)).toBe(shownAt(instantOf(local, zone), zone) === local);
      }),
      { numRuns: 500, examples: [[new Date("2036-03-30T02:30:00Z"), "Europe/Amsterdam"]] },
    );
  });

  test.each([
    ["Europe/Amsterdam", true],
    ["UTC", true],
    ["+01:00", false],
    ["Europe/Nowhere", false],
    ["", false],
    ["../etc", false],
    // Node accepts these, but each is ambiguous.
    ["IST", false],
    ["PST", false],
  ])("named %j is known: %s", (name, isOne) => {
    expect(isTimeZone(name)).toBe(isOne);
  });
});
