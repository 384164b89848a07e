import { dayOf } from "@giftcard-pay/checkout/operator";
import { expect, it } from "vitest";
import { reportDay } from "../src/admin/i18n/formats.js";

const HOUR = 3600_000;

it("the admin's day equals the reports' day at every hour of a year, even if the browser's day differs", () => {
  const first = Date.UTC(2026, 0, 1);
  for (let hour = 0; hour < 366 * 24; hour += 1) {
    const at = new Date(first + hour * HOUR);
    expect(reportDay(at)).toBe(dayOf(at));
  }
  expect(reportDay(new Date("2026-11-21T23:30:00Z"))).toBe("2026-11-22");
});
