import { readRetryAfter } from "@giftcard-pay/client/contract";
import { expect, it } from "vitest";
import type { CallError } from "../src/call-errors.js";
import { callShop } from "../src/shop-api.js";

const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();
const inTwoDays = new Date(Date.now() + 2 * 86_400_000).toUTCString();
const anHourAgo = new Date(Date.now() - 3_600_000).toUTCString();

// The page can't import the client's function: that would bundle the client.
it.each(["17", "0", "864000", inTwoMinutes, inTwoDays, anHourAgo, "soon"])(
  "waits as long as the client reads from Retry-After: %s",
  async (header) => {
    const transport = async () => new Response("{}", { status: 429, headers: { "Retry-After": header } });
    const address = { endpoint: "/giftcards", publishableKey: "", headers: {}, transport };
    const { signal } = new AbortController();
    const error = await callShop<never>(address, signal, [], "GET", "/carts/cart").catch(
      (thrown) => thrown as CallError,
    );
    // The page shows hours, minutes and seconds of one day, and waits a few seconds by default.
    const seconds = Math.min(readRetryAfter(header) || 5, 86_399);
    expect(error).toMatchObject({ code: "too_many_attempts" });
    expect(Math.abs(Number(error.retryAfterSeconds) - seconds)).toBeLessThanOrEqual(1);
  },
);
