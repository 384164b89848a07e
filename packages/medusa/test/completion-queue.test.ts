import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { type CompletionQueue, createCompletionQueue, type Leave } from "../src/context/completion-queue.js";

const stays = new AbortController().signal;

/** Enters, and expects a turn. */
async function turn(queue: CompletionQueue, cartId: string): Promise<Leave> {
  const leave = await queue.enter(cartId, stays);
  if (typeof leave !== "function") throw new Error(`${cartId} got no turn, but ${leave}.`);
  return leave;
}

const waits = (promise: Promise<unknown>) => Promise.race([promise, sleep(50, "waits")]);

test("carts reserve their items one after the other, in the order of their arrival", async () => {
  const queue = createCompletionQueue();
  const order: string[] = [];
  let reserving = 0;
  const leaves = await Promise.all(
    ["a", "b", "c", "d"].map(async (cartId) => {
      const leave = await turn(queue, cartId);
      order.push(cartId);
      reserving += 1;
      expect(reserving).toBe(1);
      await sleep(20);
      reserving -= 1;
      queue.hasReserved(cartId);
      return leave;
    }),
  );
  expect(order).toEqual(["a", "b", "c", "d"]);
  for (const leave of leaves) leave();
});

test("once a cart has reserved, other pages have the process for as long as it was busy", async () => {
  const queue = createCompletionQueue();
  const first = await turn(queue, "first");
  // Waiting for the database doesn't count.
  await sleep(600);
  for (const until = performance.now() + 150; performance.now() < until; );
  queue.hasReserved("first");
  const reservedAt = performance.now();
  first();
  // A second report changes nothing.
  queue.hasReserved("first");
  const second = await turn(queue, "second");
  const restMs = performance.now() - reservedAt;
  expect(restMs).toBeGreaterThan(140);
  expect(restMs).toBeLessThan(450);
  // A cart that ends without reserving, such as one that is sold out, gives way at once.
  const third = turn(queue, "third");
  second();
  (await third)();
});

test("a cart whose page disconnects keeps its place for its next call", async () => {
  const queue = createCompletionQueue();
  const first = await turn(queue, "first");
  const page = new AbortController();
  const gone = queue.enter("second", page.signal);
  const third = turn(queue, "third");
  page.abort();
  expect(await gone).toBeNull();
  expect(await queue.enter("second", page.signal)).toBeNull();
  const again = turn(queue, "second");
  first();
  const leave = await again;
  expect(await waits(third)).toBe("waits");
  leave();
  (await third)();
});

test("a call waits until an earlier call of its cart has ended, and then looks at the cart again", async () => {
  const queue = createCompletionQueue();
  const first = await turn(queue, "a");
  const second = queue.enter("a", stays);
  queue.hasReserved("a");
  (await turn(queue, "b"))();
  expect(await waits(second)).toBe("waits");
  first();
  expect(await second).toBe("again");
});

test("a page that calls for one cart again and again doesn't stop the others", async () => {
  const queue = createCompletionQueue();
  const turns: string[] = [];
  let isOver = false;
  const insist = async () => {
    while (!isOver) {
      const leave = await queue.enter("bot", stays);
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

test("a completion that doesn't get to reserve blocks others for a second, and its own cart for two minutes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  try {
    const queue = createCompletionQueue();
    await turn(queue, "hangs");
    let hasTurn = false;
    void turn(queue, "other").then(() => {
      hasTurn = true;
    });
    const same = queue.enter("hangs", stays);
    await vi.advanceTimersByTimeAsync(900);
    expect(hasTurn).toBe(false);
    await vi.advanceTimersByTimeAsync(700);
    expect(hasTurn).toBe(true);
    await vi.advanceTimersByTimeAsync(119_000);
    expect(await same).toBe("again");
  } finally {
    vi.useRealTimers();
  }
});

test("a place is kept for 15 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  try {
    const queue = createCompletionQueue();
    const first = await turn(queue, "first");
    const page = new AbortController();
    void queue.enter("gone", page.signal);
    const next = turn(queue, "next");
    page.abort();
    await vi.advanceTimersByTimeAsync(15_100);
    let isFirst = false;
    void queue.enter("gone", stays).then(() => {
      isFirst = true;
    });
    first();
    await next;
    expect(isFirst).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test("leaving twice ends one turn", async () => {
  const queue = createCompletionQueue();
  const first = await turn(queue, "first");
  first();
  const second = await turn(queue, "second");
  first();
  const third = turn(queue, "third");
  expect(await waits(third)).toBe("waits");
  second();
  (await third)();
});

test("a failed completion may be repeated twice, if other carts are completed meanwhile", async () => {
  const queue = createCompletionQueue();
  expect(queue.mayRepeat("alone")).toBe(false);
  const failing = await turn(queue, "failing");
  expect(queue.mayRepeat("alone")).toBe(false);
  const other = turn(queue, "other");
  expect([1, 2, 3].map(() => queue.mayRepeat("failing"))).toEqual([true, true, false]);
  failing();
  (await other)();
});

test("a process that ends admits nobody: those who wait may call another process", async () => {
  const end = () => {};
  process.on("SIGTERM", end);
  try {
    const queue = createCompletionQueue();
    const running = await turn(queue, "running");
    const waiting = queue.enter("waiting", stays);
    expect([queue.isRunning("running"), queue.isRunning("waiting"), queue.isBusy()]).toEqual([true, false, true]);
    process.emit("SIGTERM");
    expect(await waiting).toBeNull();
    expect(await queue.enter("late", stays)).toBeNull();
    running();
    expect(queue.isBusy()).toBe(false);
  } finally {
    process.off("SIGTERM", end);
  }
});
