import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { chargeStates } from "../src/store/charge-states.js";
import { purchaseStates } from "../src/store/purchase-states.js";
import { calls, type Play, type PlayedStore } from "./agreement-calls.js";

const HALF_HOUR_MS = 30 * 60_000;

/**
 * Makes the same calls on two stores, and compares each result, and all records at the end. Both stores need the same
 * content before, such as none, and must not be used by anything else.
 *
 * @param choices whole numbers from 0 that select the calls, several for each call, such as those of fast-check's
 *   `fc.array(fc.nat())`
 * @throws {AssertionError} with the calls so far, if the stores differ
 */
export async function sameAnswers(
  reference: PlayedStore,
  candidate: PlayedStore,
  choices: readonly number[],
): Promise<void> {
  const left = [...choices];
  const named: string[] = [];
  const play: Play = {
    ...{
      run: randomUUID(),
      carts: [],
      tenders: [],
      seen: [],
      charges: [],
      externalIds: [],
      orders: [],
      refunds: [],
      count: 0,
    },
    pick: (list) => list[(left.shift() ?? 0) % list.length] as (typeof list)[number],
    async both(name, call) {
      named.push(name);
      const before = await answerOf(reference, call);
      const now = await answerOf(candidate, call);
      assert.deepEqual(now, before, `The stores differ after ${named.length} calls:\n${named.join("\n")}`);
      // So that later calls have a later time on every clock.
      await sleep(2);
    },
  };
  play.carts.push(`cart-1-${play.run}`, `cart-2-${play.run}`);
  while (left.length > 0) await play.pick(calls)(play);
  await readEverything(play);
}

/** Returns the result of a call, with times as half hours from now, because the two calls are not simultaneous. */
async function answerOf(store: PlayedStore, call: (store: PlayedStore) => Promise<unknown>): Promise<unknown> {
  const answer = await call(store).then(
    (value) => ({ value }),
    () => "failed",
  );
  const nowMs = (await store.journal.now()).getTime();
  const plain = (value: unknown): unknown => {
    if (value instanceof Date) return `${Math.round((value.getTime() - nowMs) / HALF_HOUR_MS)} half hours`;
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  };
  return plain(answer);
}

async function readEverything({ both, carts, tenders, charges, orders }: Play): Promise<void> {
  for (const cartId of carts) {
    await both(`tenders ${cartId}`, ({ journal }) => journal.tenders(cartId));
    await both(`chargesOfCart ${cartId}`, ({ journal }) => journal.chargesOfCart(cartId));
  }
  for (const { id } of tenders) await both(`tender ${id}`, ({ journal }) => journal.tender(id));
  for (const reference of charges) {
    await both(`charge ${reference}`, ({ journal }) => journal.charge(reference));
    await both(`actions ${reference}`, ({ journal }) => journal.actions(reference));
    await both(`chargesOfCard ${reference}`, ({ journal }) => journal.chargesOfCard(reference));
  }
  for (const orderId of orders) await both(`read ${orderId}`, ({ purchases }) => purchases.read(orderId));
  await both("list", ({ journal }) => journal.list({ limit: 20 }));
  await both("list by state", ({ journal }) => journal.list({ states: chargeStates.slice(2, 8), limit: 20 }));
  await both("countByState", ({ journal }) => journal.countByState());
  await both("sealCounts", ({ journal }) => journal.sealCounts());
  await both("list of purchases", ({ purchases }) => purchases.list({ states: purchaseStates, limit: 20 }));
}
