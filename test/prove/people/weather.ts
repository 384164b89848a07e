import type { Fault } from "../../support/fault-proxy.js";
import { type Round, unasked } from "./round.js";
import type { Actor, Step } from "./scenario.js";
import type { Stage } from "./stage.js";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Breaks networks and restarts processes while people act. */
export async function changeWeather(stage: Stage, round: Round, { steps }: Actor): Promise<void> {
  for (const step of steps) {
    await pause(step.waitMs ?? 0);
    const atMs = performance.now() - round.startedAt;
    const what = await change(stage, step);
    const tookMs = performance.now() - round.startedAt - atMs;
    round.entries.push({ ...unasked, atMs, tookMs, who: "weather", cart: -1, step: step.do, what });
  }
}

async function change({ world }: Stage, { do: name, how = "", n = 1 }: Step): Promise<string> {
  const { giftcards } = world;
  if (name === "lose answer") {
    const [operation, fault] = how.split(" ") as [string, Fault];
    giftcards.proxy.set(operation, fault, n);
    return `the next ${n} ${operation} meet "${fault}"`;
  }
  if (name === "restart service") await giftcards.kill();
  else await world.kill();
  await world.restore();
  return name === "restart service" ? "the service is killed and started" : "Medusa 0 is killed and started";
}
