/** Runs random sequences of people, crashes and a provider against `@giftcard-pay/checkout`, and checks the books, on both stores. */
import { build } from "../build.mjs";
import { recordRun } from "../check/written-tables.mjs";
import { command, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `Runs random sequences of actions by shoppers, shops and a provider, and of crashes, and proves the books after each.

  npm run prove -- model              10,000 sequences on both stores, from a new seed
  npm run prove -- model --seed <n>   the same sequences again
  npm run prove -- model --seed <n> --path <p> one of these sequences
  npm run prove -- model --steps '<json>'   a shortened sequence, as printed by a failed run

  --sequences <n>   how many (default 10000)
  --minutes <n>     time limit (default 20)
  --remainder <m>   the other payment method, by its adapter: stripe (default), stripe-page or mollie
  --store <name>    only sqlite or only postgres
  --at-once <n>     number of concurrent sequences (default 6)
  --json            prints the result as JSON, and progress on standard error

A run without a seed, a store and a number is recorded in docs/how-it-is-tested.md. Exits with 1 on any violation.
`;

const text = /** @type {const} */ ({ type: "string" });
const options = /** @type {const} */ ({
  json: { type: "boolean" },
  minutes: { ...text, default: "20" },
  ...{
    remainder: { ...text, default: "stripe" },
    seed: text,
    sequences: text,
    "at-once": text,
    path: text,
    steps: text,
    store: text,
  },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const { store, sequences, remainder, "at-once": atOnce } = values;
  const names = /** @type {const} */ (["stripe", "stripe-page", "mollie"]);
  const method = names.find((name) => name === remainder);
  if (!method) throw new UsageError("--remainder must be stripe, stripe-page or mollie.");
  if (store !== undefined && store !== "sqlite" && store !== "postgres")
    throw new UsageError("--store must be sqlite or postgres.");
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  await build(["service"], { progress: say, signal });
  /** @type {typeof import("../../packages/checkout/test/model/run.js")} */
  const { runModel, sequenceOf } = await loadTypeScript("packages/checkout/test/model/run.ts");
  /** @type {typeof import("../../packages/checkout/test/model/report.js")} */
  const { modelReport } = await loadTypeScript("packages/checkout/test/model/report.ts");
  const { startThrowawayPostgres } = await import("@giftcard-pay/service");
  const alone = values.path === undefined ? undefined : sequenceOf(seed, values.path);
  const only = values.steps ? JSON.parse(values.steps) : alone;
  const server = await startThrowawayPostgres();
  let saidAt = performance.now();
  say(`seed ${seed}`);
  try {
    const result = await runModel({
      ...{
        seed,
        signal,
        method,
        sequences: Number(sequences ?? 10_000),
        minutes: Number(values.minutes),
        postgresUrl: server.url,
      },
      ...(atOnce && { atOnce: Number(atOnce) }),
      ...(store && { stores: [store] }),
      ...(only && { only }),
      onProgress(done, findings) {
        if (performance.now() - saidAt < 10_000) return;
        saidAt = performance.now();
        say(`${done} sequences, ${findings.length} kinds of violation`);
      },
    });
    const isComplete =
      method === "stripe" && [values.seed, sequences, store, only].every((value) => value === undefined);
    if (isComplete && !signal.aborted) {
      const extent = `${result.sequences.toLocaleString("en")} sequences`;
      await recordRun({ command: "npm run prove -- model", extent, violations: result.violations });
    }
    process.stdout.write(`${values.json ? JSON.stringify(result, null, 2) : modelReport(result)}\n`);
    return result.violations > 0 ? 1 : 0;
  } finally {
    await server.close();
  }
});
