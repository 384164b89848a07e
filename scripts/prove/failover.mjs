/** Sells while primaries fail and their synchronous standbys take over, and proves that no answered sale is lost. */
import { build } from "../build.mjs";
import { command, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `64 callers sell while the database's primary fails repeatedly and its synchronous standby takes over.

  npm run prove -- failover              ten rounds
  npm run prove -- failover --rounds 3   this number of rounds

  --json   prints the result as JSON, and progress on standard error

The service knows one address, which moves to the standby as a virtual IP does. In every other round the primary stops
answering without ending, as behind a cut network. Exits with 1 if an answered sale is lost, the outcome of a sale stays
unknown, or the books are not exact.
`;

/** @typedef {import("../../test/prove/failover/run.js").FailoverResult} FailoverResult */

const options = /** @type {const} */ ({
  rounds: { type: "string", default: "10" },
  json: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds > 0)) throw new UsageError("Give --rounds a whole number above 0.");
  await build(["service"], { progress: say, signal });
  /** @type {typeof import("../../test/prove/failover/run.js")} */
  const { runFailover } = await loadTypeScript("test/prove/failover/run.ts");
  say("starting a primary, a synchronous standby, and the service");
  const faults = Array.from({ length: rounds }, (_, round) => (round % 2 ? "silent" : "killed"));
  const result = await runFailover({ faults: /** @type {("silent" | "killed")[]} */ (faults), say, signal });
  print(result, values.json ?? false);
  return result.differences.length === 0 ? 0 : 1;
});

/** @param {FailoverResult} result @param {boolean} asJson */
function print(result, asJson) {
  if (asJson) return void process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  const { differences, ...counts } = result;
  for (const [name, value] of Object.entries(counts)) console.log(`${name.padEnd(14)}  ${value}`);
  for (const difference of differences.slice(0, 50)) console.log(difference);
  console.log(
    differences.length === 0
      ? "No answered sale is lost, and the books are exact."
      : `${differences.length} differences.`,
  );
}
