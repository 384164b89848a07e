import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { type CompletionQueue, createCompletionQueue, type Leave } from "../src/context/completion-queue.js";

const stays = new AbortController().signal;

/** Enters, and expects a turn. */
async function turn(queue: CompletionQueue, cartId: string, items = 1): Promise<Leave> {
  const leave = await queue.enter(cartId, items, stays);
  if (typeof leave !== "function") throw new Error(`${cartId} got no turn, but ${leave}.`);
  return leave;
}

/** Keeps the event loop busy, as completions do, until the function that this returns is called. */
function keepBusy(): () => void {
  const timer = setInterval(() => {
    for (const until = performance.now() + 18; performance.now() < until; );
  }, 20);
  return () => clearInterval(timer);
}

test("completes carts in the order of their arrival, one at a time while the process is busy", async () => {
  const queue = createCompletionQueue(4);
  const order: string[] = [];
  let running = 0;
  const rest = keepBusy();
  await sleep(50);
  try {
    await Promise.all(
      ["a", "b", "c", "d"].map(async (cartId) => {
        const leave = await turn(queue, cartId);
        order.push(cartId);
        running += 1;
        expect(running).toBe(1);
        await sleep(60);
        running -= 1;
        leave();
      }),
    );
  } finally {
    rest();
  }
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("completes several carts at a time while the process has nothing else to do, up to the number of places", async () => {
  const queue = createCompletionQueue(3);
  const leaves: Leave[] = [];
  const entering = ["a", "b", "c", "d"].map((cartId) => turn(queue, cartId).then((leave) => leaves.push(leave)));
  await expect.poll(() => leaves.length).toBe(3);
  await sleep(200);
  expect(leaves).toHaveLength(3);
  expect(queue.isBusy()).toBe(true);
  for (const leave of leaves.slice()) leave();
  await Promise.all(entering);
  expect(leaves).toHaveLength(4);
  leaves[3]?.();
  expect(queue.isBusy()).toBe(false);
});

test("a cart whose page disconnects keeps its position for its next call", async () => {
  const queue = createCompletionQueue(1);
  const first = await turn(queue, "first");
  const page = new AbortController();
  const gone = queue.enter("second", 1, page.signal);
  const third = turn(queue, "third");
  page.abort();
  expect(await gone).toBeNull();
  const again = turn(queue, "second");
  first();
  const leave = await again;
  expect(await Promise.race([third, sleep(100, "waits")])).toBe("waits");
  leave();
  (await third)();
});

test("a call waits until an earlier call of its cart has ended, and then looks at the cart again", async () => {
  const queue = createCompletionQueue(4);
  const first = await turn(queue, "a");
  const second = queue.enter("a", 1, stays);
  (await turn(queue, "b"))();
  expect(await Promise.race([second, sleep(100, "waits")])).toBe("waits");
  first();
  expect(await second).toBe("again");
});

test("a page that calls for one cart again and again doesn't stop the others", async () => {
  const queue = createCompletionQueue(1);
  const turns: string[] = [];
  let isOver = false;
  const insist = async () => {
    while (!isOver) {
      const leave = await queue.enter("bot", 1, stays);
      if (typeof leave !== "function") continue;
      turns.push("bot");
      await sleep(5);
      leave();
    }
  };
  const bots = Array.from({ length: 12 }, insist);
  for (const cartId of ["a", "b", "c"]) {
    const leave = await turn(queue, cartId);
    turns.push(cartId);
    leave();
  }
  isOver = true;
  await Promise.all(bots);
  expect(turns.slice(0, turns.indexOf("c")).filter((cartId) => cartId === "bot").length).toBeLessThan(60);
});

test("completes only one cart with several stocked items at a time, and carts with one item beside it", async () => {
  const queue = createCompletionQueue(4);
  const first = await turn(queue, "two items", 2);
  const second = turn(queue, "two other items", 2);
  (await turn(queue, "one item"))();
  expect(await Promise.race([second, sleep(200, "waits")])).toBe("waits");
  first();
  (await second)();
});

test("a slow completion gives up its place after 10 s, but not its items; a call waits for 20 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  try {
    const queue = createCompletionQueue(1);
    await turn(queue, "slow", 2);
    const wide = queue.enter("two items", 2, stays);
    const narrow = queue.enter("one item", 1, stays);
    let waits = true;
    void narrow.then(() => {
      waits = false;
    });
    await vi.advanceTimersByTimeAsync(9_900);
    expect(waits).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    expect(waits).toBe(false);
    await vi.advanceTimersByTimeAsync(10_100);
    expect(await wide).toBeNull();
    // A completion that hangs blocks nothing for ever.
    await vi.advanceTimersByTimeAsync(90_000);
    const last = queue.enter("two items", 2, stays);
    await vi.advanceTimersByTimeAsync(10_100);
    expect(await last).toBeTypeOf("function");
  } finally {
    vi.useRealTimers();
  }
});

test("leaving twice frees one place", async () => {
  const queue = createCompletionQueue(1);
  const first = await turn(queue, "first");
  first();
  first();
  const second = await turn(queue, "second");
  first();
  const third = turn(queue, "third");
  expect(await Promise.race([third, sleep(200, "waits")])).toBe("waits");
  second();
  (await third)();
});
