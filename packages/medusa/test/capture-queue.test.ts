import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCaptureQueue } from "../src/context/capture-queue.js";

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};

test("captures a single order at once", async () => {
  const queue = createCaptureQueue();
  const captured = gate();
  queue.add("a", async () => captured.open());
  expect(queue.isBusy()).toBe(false);
  await captured.opened;
});

test("captures one order at a time, each once, after no order has arrived for a while", async () => {
  const queue = createCaptureQueue();
  const done: string[] = [];
  let running = 0;
  const last = gate();
  const capture = (orderId: string) => async () => {
    running += 1;
    expect(running).toBe(1);
    // The first one began before the second one arrived.
    if (done.length > 0) expect(queue.isBusy()).toBe(false);
    await sleep(10);
    running -= 1;
    done.push(orderId);
    if (done.length === 4) last.open();
  };
  for (const orderId of ["a", "b", "c", "c", "d"]) queue.add(orderId, capture(orderId));
  expect(queue.isBusy()).toBe(true);
  await last.opened;
  expect(done).toEqual(["a", "b", "c", "d"]);
});

test("drops what waits when the process ends", async () => {
  const queue = createCaptureQueue();
  const first = gate();
  const done: string[] = [];
  queue.add("a", () => first.opened);
  queue.add("b", async () => void done.push("b"));
  queue.stop();
  first.open();
  queue.add("c", async () => void done.push("c"));
  await expect.poll(() => done, { timeout: 10_000 }).toEqual(["c"]);
});
