/**
 * Runs random calls of 64 callers on 20 cards for some minutes, while a process is killed every second and the database
 * once, then compares every answer with the ledger. Before that, compares random operations with a simple model.
 */
import { build } from "../build.mjs";
import { command, UsageError } from "../lib/command.mjs";

const HELP = `Runs random calls of 64 callers on 20 cards, while a process is killed every second and the database once. Then
compares every answer with the ledger. Exits with 1 if anything differs.

  npm run prove -- soak                two minutes, from a new seed
  npm run prove -- soak --minutes 10   for ten minutes
  npm run prove -- soak --seed 42      repeats the calls of this seed

  --json   prints the result as JSON
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
