/**
 * Random calls of 64 callers on 20 cards for some minutes, while a process is killed each second and the database once;
 * then every answer is held against the ledger. Before that, random sequences of operations run beside a simple model.
 */
import { build } from "./build.mjs";
import { command, UsageError } from "./command.mjs";

const HELP = `Random calls of 64 callers on 20 cards, while a process is killed each second and the database once; then every
answer is held against the ledger. Ends with 1 when anything differs.

  npm run soak                       two minutes, from a new seed
  npm run soak -- --minutes 10       for so long
  npm run soak -- --seed 42          the same calls again

  --json   the result as JSON
`;

const MODEL_STEPS = 10_000;
const options = /** @type {const} */ ({
  minutes: { type: "string", default: "2" },
  seed: { type: "string" },
  json: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new UsageError("Give --minutes a number above 0.");
  await build(["service"], { progress: say, signal });
  const { startThrowawayPostgres } = await import("@giftcard-pay/service");
  const { modelRun } = await import("./soak/model.mjs");
  const { soak } = await import("./soak/run.mjs");

  const seeded = values.seed === undefined ? {} : { seed: Number(values.seed) };
  say(`${MODEL_STEPS} random operations beside a model`);
  const server = await startThrowawayPostgres();
  const answers = await modelRun({ databaseUrl: server.url, steps: MODEL_STEPS, ...seeded }).finally(() =>
    server.close(),
  );
  say("no difference");

  say(`${minutes} minutes of random calls, while processes and the database are killed`);
  const result = await soak({ durationMs: minutes * 60_000, say, ...seeded });
  const { differences, ...counts } = result;
  if (values.json) console.log(JSON.stringify({ modelSteps: MODEL_STEPS, modelAnswers: answers, ...result }));
  else {
    for (const [name, value] of Object.entries(counts)) console.log(`${name.padEnd(14)}  ${value}`);
    for (const difference of differences.slice(0, 50)) console.log(difference);
    console.log(differences.length === 0 ? "The books are exact." : `${differences.length} differences.`);
  }
  return differences.length === 0 ? 0 : 1;
});
