import { expect, it } from "vitest";
import { changedBy, readDefects, readSources, writeCopy } from "../../../scripts/prove/simulation/source-copy.mjs";
import { replay, runHistories } from "./simulation/run.js";

/** The same on every machine. `npm run prove -- simulation` plays 100,000. */
const HISTORIES = 500;

it("keeps every promise in histories of people, faults, crashes and recovery", { timeout: 300_000 }, async () => {
  const { histories, steps, failures } = await runHistories({ seed: 1, histories: HISTORIES });
  expect(failures).toEqual([]);
  expect(histories).toBe(HISTORIES);
  expect(steps).toBeGreaterThan(30 * HISTORIES);
});

it("replays the history of a seed exactly, with a log", async () => {
  const seeds = Array.from({ length: 15 }, (_, index) => index + 1);
  const logs = async () => {
    const played = [];
    for (const seed of seeds) played.push(await replay(seed));
    return played;
  };
  const first = await logs();
  expect(await logs()).toEqual(first);
  const texts = first.map(({ lines }) => lines.join("\n"));
  expect(new Set(texts).size).toBe(seeds.length);
  for (const part of ["store begin(", "issuer devalue: ", "is suspended at ", "dies at "])
    expect(
      texts.some((text) => text.includes(part)),
      part,
    ).toBe(true);
});

it("finds a defect, and shrinks its history to one that replays", { timeout: 300_000 }, async () => {
  const sources = await readSources();
  const defect = (await readDefects()).find(({ name }) => name === "a refund leaves the cards");
  if (!defect) throw new Error("The list hasn't this defect.");
  const copy = await writeCopy(new Map([...sources, ...changedBy(sources, defect)]), `test-${process.pid}`);
  try {
    const broken: typeof import("./simulation/run.js") = await import(/* @vite-ignore */ copy.run.href);
    const { failures } = await broken.runHistories({ seed: 1, histories: 500 });
    const [failure] = failures;
    if (!failure) throw new Error("The defect isn't found.");
    const { seed, path, plan, violations } = failure;
    const whole = await broken.replay(seed);
    const small = await broken.replay(seed, path);
    expect(small.plan).toEqual(plan);
    expect(small.violations).toEqual(violations);
    expect(small.violations[0]?.kind).toBe(whole.violations[0]?.kind);
    expect(small.lines.length).toBeLessThan(whole.lines.length);
    expect([small.plan.orders.length, small.plan.faults.length]).toEqual([1, 0]);
    expect(small.lines.some((line) => line.includes(`VIOLATION: ${violations[0]?.kind}`))).toBe(true);
    expect(await broken.replay(seed, path)).toEqual(small);
  } finally {
    await copy.remove();
  }
});

it("has a list of defects, each of which changes exactly one place", async () => {
  const sources = await readSources();
  const defects = await readDefects();
  expect(defects.length).toBeGreaterThanOrEqual(40);
  for (const defect of defects) expect(changedBy(sources, defect).size, defect.name).toBeGreaterThan(0);
});
