/** Runs random shoppers and admins concurrently on a real shop, and checks the product's promises. */
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { build } from "../build.mjs";
import { recordRun } from "../check/written-tables.mjs";
import { command, loadTypeScript } from "../lib/command.mjs";

const HELP = `Runs random shoppers and admins concurrently on a real Medusa, a real service and a simulated bank.

  npm run prove -- people                   25 rounds of four carts, with a seed from the clock
  npm run prove -- people --carts 1000      until this many carts were bought or abandoned
  npm run prove -- people --minutes 10      for ten minutes
  npm run prove -- people --seed 42         with this seed: the first round uses 42, the next 43
  npm run prove -- people --replay <file>   replays the scenario that a violation saved

  npm run prove -- people --vendure         the same on a real Vendure in two servers and a worker, with Stripe's webhooks;
                                            takes --seed, --rounds, --minutes and --json (installs Vendure the first time)

  --rounds <n>      number of rounds
  --workers <n>     number of concurrent worlds, each with two Medusas for each way of charging cards (default 2)
  --scenario <json> runs this scenario
  --pending         allows payments that settle later together with cards (\`allowPromisedRemainder\`)
  --shared-lock     both Medusa processes share one lock (\`locking-postgres\`); by default each has its own
  --shrink <n>      how often a failed round is replayed to shorten it (default 40; 0: never)
  --json            prints the result as JSON, and progress on standard error

docs/how-it-is-tested.md lists the checks. A run of the default length is recorded there. Exits with 1 on a violation.
`;

/** @typedef {import("../../test/prove/people/run-people.js").RoundResult} RoundResult */
/** @typedef {import("../../test/prove/people/run-people.js").PeopleResult} PeopleResult */

/** @param {string | undefined} text @param {string} name */
function numberOf(text, name) {
  if (text === undefined) return {};
  const value = Number(text);
  if (!(value >= 0)) throw new Error(`--${name} must be a number of at least 0.`);
  return { [name]: value };
}

/** @param {PeopleResult["counts"]} counts */
const tableOf = (counts) =>
  Object.entries(counts)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([step, outcomes]) => {
      const most = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
      return `${step.padEnd(16)}  ${most.map(([outcome, count]) => `${outcome} ${count}`).join(", ")}`;
    })
    .join("\n");

/** @param {RoundResult} result @param {string} folder */
async function keep({ seed, scenario }, folder) {
  const file = path.join(folder, `people-${seed}.json`);
  await writeFile(file, JSON.stringify(scenario));
  return file;
}

const text = /** @type {const} */ ({ type: "string" });
const options = /** @type {const} */ ({
  json: { type: "boolean" },
  pending: { type: "boolean" },
  vendure: { type: "boolean" },
  "shared-lock": { type: "boolean" },
  ...{ seed: text, rounds: text, minutes: text, carts: text, workers: text },
  ...{ replay: text, scenario: text, shrink: text },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const json = values.replay ? await readScenario(values.replay) : values.scenario;
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
  if (values.vendure) return playVendure({ seed, values, signal, say });
  await build(["service", "checkout", "store"], { progress: say, signal });
  /** @type {typeof import("../../test/prove/people/run-people.js")} */
  const { runPeople } = await loadTypeScript("test/prove/people/run-people.ts");
  if (!json) say(`seed ${seed}`);
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-people-"));
  /** @type {Promise<void>} */
  let telling = Promise.resolve();
  /** @param {RoundResult} result */
  const tell = async (result) => {
    const file = await keep(result, folder);
    say(`\nseed ${result.seed}\n${result.story}\n  again: npm run prove -- people --replay ${file}\n`);
  };
  const result = await runPeople({
    ...{ seed, say, signal, allowsPending: values.pending, sharesLock: values["shared-lock"] },
    ...numberOf(values.rounds, "rounds"),
    ...numberOf(values.minutes, "minutes"),
    ...numberOf(values.carts, "carts"),
    ...numberOf(values.workers, "workers"),
    ...(values.shrink !== undefined && { shrinkTries: Number(values.shrink) }),
    ...(json && { scenario: JSON.parse(json) }),
    onRound(round, { carts }) {
      const bad = [...new Set(round.violations.map(({ kind }) => kind))].join(", ");
      say(`${String(carts).padStart(5)} carts  seed ${round.seed}  ${bad || "ok"} (${round.seconds.toFixed(1)} s)`);
      if (round.story) telling = telling.then(() => tell(round));
    },
  });
  await telling;
  const violations = result.rounds.reduce((sum, round) => sum + round.violations.length, 0);
  const { replay, scenario, seed: given, rounds, minutes, carts } = values;
  const isComplete = [replay, scenario, given, rounds, minutes, carts].every((value) => value === undefined);
  if (isComplete && !signal.aborted) {
    const ways = [values.pending && "--pending", values["shared-lock"] && "--shared-lock"].filter(Boolean);
    const name = ["npm run prove -- people", ...ways].join(" ");
    await recordRun({ command: name, extent: `${result.carts} carts`, violations });
  }
  if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  say(`\n${tableOf(result.counts)}\n`);
  say(`seed ${result.seed}, ${result.minutes.toFixed(1)} minutes`);
  say(`${result.carts} carts, ${violations} violations`);
  return violations > 0 ? 1 : 0;
});

/**
 * @param {object} run
 * @param {number} run.seed
 * @param {{ rounds?: string | undefined, minutes?: string | undefined, json?: boolean | undefined }} run.values
 * @param {AbortSignal} run.signal
 * @param {(text: string) => void} run.say
 */
async function playVendure({ seed, values, signal, say }) {
  await build(["service", "vendure"], { progress: say, signal });
  /** @type {typeof import("../../test/prove/vendure-people/run.js")} */
  const { runVendurePeople } = await loadTypeScript("test/prove/vendure-people/run.ts");
  say(`seed ${seed}\nstarting Vendure in three processes`);
  const isComplete = values.rounds === undefined && values.minutes === undefined;
  const result = await runVendurePeople({
    ...{ seed, signal },
    ...(isComplete ? { rounds: 25 } : {}),
    ...numberOf(values.rounds, "rounds"),
    ...numberOf(values.minutes, "minutes"),
    onRound(round, { orders }) {
      const { wrong, story, seconds } = round;
      say(
        `${String(orders).padStart(5)} orders  seed ${round.seed}  ${wrong.length > 0 ? "BAD" : "ok"} (${seconds.toFixed(1)} s)`,
      );
      if (wrong.length > 0) say(`\n${wrong.join("\n")}\n\n${story}\n`);
    },
  });
  const violations = result.rounds.reduce((sum, round) => sum + round.wrong.length, 0);
  if (isComplete && !signal.aborted)
    await recordRun({ command: "npm run prove -- people --vendure", extent: `${result.orders} orders`, violations });
  if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  say(`\n${tableOf(result.counts)}\n\nseed ${seed}, ${result.minutes.toFixed(1)} minutes`);
  say(`${result.orders} orders, ${violations} violations`);
  return violations > 0 ? 1 : 0;
}

/** @param {string} file */
function readScenario(file) {
  return readFile(file, "utf8").catch((/** @type {NodeJS.ErrnoException} */ { code }) => {
    throw new Error(`${file} can't be read (${code}). A violation prints the file that it was written to.`);
  });
}
