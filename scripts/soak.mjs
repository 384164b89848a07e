// Random calls of 64 callers on 20 cards for some minutes, while a process is killed each second and the database once;
// then every answer is held against the ledger. Before that, random sequences of operations run beside a simple model.
// Ends with 1 when anything differs.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const minutes = Number(options.minutes);
if (!(minutes > 0)) throw new Error("Give --minutes a number above 0.");
const MODEL_STEPS = 10_000;
/** @param {string} text */
const say = (text) => options.json || console.log(text);

await build(["service"], { progress: say });
const { startThrowawayPostgres } = await import("@giftcard-pay/service");
const { modelRun } = await import("./soak-model.mjs");
const { soak } = await import("./soak-run.mjs");

const seeded = options.seed === undefined ? {} : { seed: Number(options.seed) };
say(`${MODEL_STEPS} random operations beside a model`);
const server = await startThrowawayPostgres();
const answers = await modelRun({ databaseUrl: server.url, steps: MODEL_STEPS, ...seeded }).finally(() =>
  server.close(),
);
say("no difference");

say(`${minutes} minutes of random calls, while processes and the database are killed`);
const result = await soak({ durationMs: minutes * 60_000, say, ...seeded });
const { differences, ...counts } = result;
if (options.json) console.log(JSON.stringify({ modelSteps: MODEL_STEPS, modelAnswers: answers, ...result }));
else {
  for (const [name, value] of Object.entries(counts)) console.log(`${name.padEnd(14)}  ${value}`);
  for (const difference of differences.slice(0, 50)) console.log(difference);
  console.log(differences.length === 0 ? "The books are exact." : `${differences.length} differences.`);
}
process.exitCode = differences.length === 0 ? 0 : 1;
