/** Sells while primaries die and their synchronous standbys take over, and proves that nothing that was answered is lost. */
import { build } from "./build.mjs";
import { command, loadTypeScript, UsageError } from "./command.mjs";

const HELP = `64 callers sell while the database's primary dies, again and again, and its synchronous standby takes over.

  npm run failover                   ten rounds
  npm run failover -- --rounds 3     so many

  --json   the result as JSON, progress on the other output

In every other round the primary falls silent and doesn't end, as behind a network that is cut. Ends with 1 when anything
that was answered is lost, a sale's outcome stays unknown, or the books aren't exact.
`;

/** @typedef {import("../test/failover/run.js").FailoverResult} FailoverResult */

const options = /** @type {const} */ ({
  rounds: { type: "string", default: "10" },
  json: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds > 0))
    throw new UsageError("Give --rounds a whole number above 0.");
  await build(["service"], { progress: say, signal });
  /** @type {typeof import("../test/failover/run.js")} */
  const { runFailover } = await loadTypeScript("test/failover/run.ts");
  say("a primary, a synchronous standby, and the service on both");
  const faults = Array.from({ length: rounds }, (_, round) => (round % 2 ? "silent" : "killed"));
  const result = await runFailover({ faults: /** @type {("silent" | "killed")[]} */ (faults), say, signal });
  tell(result, values.json ?? false);
  return result.differences.length === 0 ? 0 : 1;
});

/** @param {FailoverResult} result @param {boolean} asJson */
function tell(result, asJson) {
  if (asJson) return void process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  const { differences, ...counts } = result;
  for (const [name, value] of Object.entries(counts)) console.log(`${name.padEnd(14)}  ${value}`);
  for (const difference of differences.slice(0, 50)) console.log(difference);
  console.log(differences.length === 0 ? "The books are exact." : `${differences.length} differences.`);
}
