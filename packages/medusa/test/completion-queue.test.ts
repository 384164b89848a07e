import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createCompletionQueue, type Leave } from "../src/context/completion-queue.js";

const stays = new AbortController().signal;

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
        const leave = await queue.enter(cartId, 1, stays);
        order.push(cartId);
        running += 1;
        expect(running).toBe(1);
        await sleep(60);
        running -= 1;
        leave?.();
      }),
    );
  } finally {
    rest();
  }
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("completes several carts at a time while the process has nothing else to do, up to the number of places", async () => {
  const queue = createCompletionQueue(3);
  const leaves: (Leave | null)[] = [];
  const entering = ["a", "b", "c", "d"].map((cartId) =>
    queue.enter(cartId, 1, stays).then((leave) => leaves.push(leave)),
  );
  await expect.poll(() => leaves.length).toBe(3);
  await sleep(200);
  expect(leaves).toHaveLength(3);
  for (const leave of leaves.slice()) leave?.();
  await Promise.all(entering);
  expect(leaves).toHaveLength(4);
  leaves[3]?.();
});

test("a cart whose page disconnects keeps its position for its next call", async () => {
  const queue = createCompletionQueue(1);
  const first = await queue.enter("first", 1, stays);
  const page = new AbortController();
  const gone = queue.enter("second", 1, page.signal);
  const third = queue.enter("third", 1, stays);
  page.abort();
  expect(await gone).toBeNull();
  const again = queue.enter("second", 1, stays);
  first?.();
  const leave = await again;
  let isThirdIn = false;
  void third.then(() => {
    isThirdIn = true;
  });
  await sleep(100);
  expect(isThirdIn).toBe(false);
  leave?.();
  (await third)?.();
});

test("a second call of a cart doesn't wait behind other carts", async () => {
  const queue = createCompletionQueue(1);
  const first = await queue.enter("a", 1, stays);
  const other = queue.enter("b", 1, stays);
  const again = queue.enter("a", 1, stays);
  first?.();
  const leave = await again;
  expect(await Promise.race([other, sleep(100, "waits")])).toBe("waits");
  leave?.();
  (await other)?.();
});

test("completes only one cart with several stocked items at a time, and carts with one item beside it", async () => {
  const queue = createCompletionQueue(4);
  const first = await queue.enter("two items", 2, stays);
  const second = queue.enter("two other items", 2, stays);
  const third = queue.enter("one item", 1, stays);
  (await third)?.();
  expect(await Promise.race([second, sleep(200, "waits")])).toBe("waits");
  first?.();
  (await second)?.();
});

test("a call whose turn doesn't come within 20 s ends without one, and a completion that hangs gives up its place after 10 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  try {
    const queue = createCompletionQueue(1);
    const hung = queue.enter("hung", 1, stays);
    const second = queue.enter("second", 1, stays);
    await hung;
    let waits = true;
    void second.then(() => {
      waits = false;
    });
    await vi.advanceTimersByTimeAsync(9_900);
    expect(waits).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    expect(waits).toBe(false);
    const third = queue.enter("third", 1, stays);
    const fourth = queue.enter("fourth", 1, stays);
    const fifth = queue.enter("fifth", 1, stays);
    await vi.advanceTimersByTimeAsync(20_100);
    expect(await third).toBeTypeOf("function");
    expect(await fourth).toBeTypeOf("function");
    expect(await fifth).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

test("leaving twice frees one place", async () => {
  const queue = createCompletionQueue(1);
  const first = await queue.enter("first", 1, stays);
  first?.();
  first?.();
  const second = await queue.enter("second", 1, stays);
  first?.();
  const third = queue.enter("third", 1, stays);
  expect(await Promise.race([third, sleep(200, "waits")])).toBe("waits");
  second?.();
  (await third)?.();
});
