/** Plays simulated histories of `@giftcard-pay/checkout`: people, faults, crashes and recovery, in virtual time. */
import { readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { build } from "../build.mjs";
import { PAGE, rowsOf, writeTable } from "../check/written-tables.mjs";
import { command, root, UsageError } from "../lib/command.mjs";
import { changedBy, readDefects, readSources, writeCopy } from "./simulation/source-copy.mjs";
import { playInThread } from "./simulation/threads.mjs";

const HELP = `Plays histories of shoppers, staff, webhooks, recovery, faults and crashes against the checkout library. Every history
is decided by its seed. After each one, the books of issuer, journal, purchases and bank have to agree.

  npm run prove -- simulation                     100,000 histories from a new seed, then every defect
  npm run prove -- simulation --histories <n>     n histories
  npm run prove -- simulation --seed <s>          plays one history, and prints its log
  npm run prove -- simulation --seed <s> --path <p>   the smaller one that a failed run has printed
  npm run prove -- simulation --defects           makes each defect of scripts/prove/simulation/defects.diff in a copy of the source,
                                                  and plays until it is found. Fails if fewer than 95 % are
  --from <s>      the first seed of many histories, or of each defect
  --most <n>      the most histories of a defect (default 20000)
  --only <text>   only the defects whose names contain it
  --json          prints the result as JSON, and progress on standard error

Complete runs are recorded in docs/how-it-is-tested.md. Exits with 1 if a history breaks a promise.
`;

const text = /** @type {const} */ ({ type: "string" });
const options = /** @type {const} */ ({
  json: { type: "boolean" },
  defects: { type: "boolean" },
  ...{ seed: text, path: text, histories: text, from: text, only: text, most: text },
});

/** @typedef {import("../../packages/checkout/test/simulation/run.js").Failure} Failure */
/** @typedef {{ name: string, histories: number, failure: Failure | undefined, seconds: number }} Found */
/** @typedef {{ histories: number, steps: number, seconds: number, failures: Failure[] }} Played */

/** The name of the table of its figures. */
const WRITER = "npm run prove -- simulation";

const THREADS = Math.max(1, Math.min(2, os.availableParallelism()));
const REQUIRED = 0.95;
const PER_THREAD = 1_000_000;

/** @param {string | undefined} given @param {number} otherwise @param {string} name */
function numberOf(given, otherwise, name) {
  const number = given === undefined ? otherwise : Number(given);
  if (!Number.isSafeInteger(number) || number < 0) throw new UsageError(`--${name} has to be a whole number.`);
  return number;
}

/** Returns after how many histories each defect was found. @param {readonly Found[]} found */
const countsOf = (found) =>
  found
    .filter(({ failure }) => failure)
    .map(({ histories }) => histories)
    .sort((a, b) => a - b);

/** @param {Failure} failure */
const failureText = ({ seed, path, violations, plan }) =>
  [
    ...violations.map(({ kind, text: about }) => `  ${kind}: ${about}`),
    `  ${plan.orders.length} orders, ${plan.deeds.length} further acts, ${plan.faults.length} faults`,
    `  npm run prove -- simulation --seed ${seed}${path ? ` --path ${path}` : ""}`,
  ].join("\n");

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(["client"], { progress: say, signal });
  const sources = await readSources();
  const print = (/** @type {unknown} */ result, /** @type {string} */ words) =>
    void process.stdout.write(`${values.json ? JSON.stringify(result, null, 2) : words}\n`);
  const copy = await writeCopy(sources, "none");
  if (values.seed !== undefined) {
    /** @type {typeof import("../../packages/checkout/test/simulation/run.js")} */
    const { replay } = await import(copy.run.href);
    const played = await replay(numberOf(values.seed, 0, "seed"), values.path);
    print(
      played,
      [JSON.stringify(played.plan, null, 2), ...played.lines, `${played.violations.length} violations`].join("\n"),
    );
    return played.violations.length > 0 ? 1 : 0;
  }
  const from = numberOf(values.from, Math.floor(Math.random() * 2 ** 30), "from");
  const isAll = values.histories === undefined && !values.defects && values.only === undefined;

  async function playMany() {
    const histories = numberOf(values.histories, 100_000, "histories");
    say(`${histories} histories from seed ${from}`);
    const startedAt = performance.now();
    const done = Array.from({ length: THREADS }, () => 0);
    let saidAt = startedAt;
    const results = await Promise.all(
      done.map((_, thread) => {
        const own = Math.ceil((histories - thread) / THREADS);
        const wanted = {
          seed: (from + thread * PER_THREAD) % 2 ** 31,
          histories: own,
          mostFailures: 3,
          isShrunk: true,
        };
        return playInThread(copy.worker, wanted, signal, (count) => {
          done[thread] = count;
          if (performance.now() - saidAt < 15_000) return;
          saidAt = performance.now();
          say(`${done.reduce((sum, one) => sum + one, 0)} histories`);
        });
      }),
    );
    const sum = (/** @type {"histories" | "steps"} */ name) => results.reduce((all, result) => all + result[name], 0);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return { histories: sum("histories"), steps: sum("steps"), seconds, failures: results.flatMap((r) => r.failures) };
  }

  /** @param {import("./simulation/source-copy.mjs").Defect} defect @param {number} index @returns {Promise<Found>} */
  async function find(defect, index) {
    const broken = await writeCopy(new Map([...sources, ...changedBy(sources, defect)]), `defect-${index}`);
    const startedAt = performance.now();
    const histories = numberOf(values.most, 20_000, "most");
    const wanted = { seed: from, histories, mostFailures: 1, isShrunk: false };
    try {
      const result = await playInThread(broken.worker, wanted, signal);
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      say(`${result.failures[0] ? `found after ${result.histories}` : "NOT FOUND"}: ${defect.name}`);
      return { name: defect.name, histories: result.histories, failure: result.failures[0], seconds };
    } finally {
      await broken.remove();
    }
  }

  async function findAll() {
    const wanted = (await readDefects()).filter(({ name }) => name.includes(values.only ?? ""));
    // First, so that a defect whose place is gone fails at once.
    for (const defect of wanted) changedBy(sources, defect);
    /** @type {Found[]} */
    const found = [];
    const left = wanted.entries();
    const work = async () => {
      for (const [index, defect] of left) found[index] = await find(defect, index);
    };
    await Promise.all(Array.from({ length: THREADS }, work));
    return found;
  }

  const played = values.defects ? undefined : await playMany();
  const found = isAll || values.defects ? await findAll() : [];
  const missed = found.filter(({ failure }) => !failure);
  const words = [];
  if (played)
    words.push(
      `${played.histories} histories, ${played.steps} steps, ${played.seconds} s, ${played.failures.length} failures`,
      ...played.failures.map(failureText),
    );
  if (found.length > 0) {
    const counts = countsOf(found);
    words.push(
      `${counts.length} of ${found.length} defects found; half of them within ${counts[counts.length >> 1]} histories, all within ${counts.at(-1)}`,
      ...missed.map(({ name }) => `  not found: ${name}`),
    );
  }
  print({ played, found }, words.join("\n"));
  const isEnough = found.length - missed.length >= REQUIRED * found.length;
  const isWhole = values.histories === undefined && values.only === undefined;
  if (isWhole && !played?.failures.length && isEnough) await record(played, found);
  return (played?.failures.length ?? 0) > 0 || !isEnough ? 1 : 0;
});

/** Writes the figures of a complete run into the page. @param {Played | undefined} played @param {readonly Found[]} found */
async function record(played, found) {
  const head = ["Histories", "Steps", "Time", "Violations", "Defects found", "Half of them within", "All within"];
  const [row = ""] = rowsOf(await readFile(path.join(root, PAGE), "utf8"), WRITER);
  const cells = head.map((_, index) => row.split("|")[index + 1]?.trim() ?? "");
  const number = (/** @type {number | undefined} */ value) => (value ?? 0).toLocaleString("en");
  if (played) {
    const { histories, steps, seconds } = played;
    cells.splice(0, 4, number(histories), number(steps), `${Math.round(seconds / 6) / 10} minutes`, "0");
  }
  if (found.length > 0) {
    const counts = countsOf(found);
    cells.splice(
      4,
      3,
      `${counts.length} of ${found.length}`,
      number(counts[counts.length >> 1]),
      number(counts.at(-1)),
    );
  }
  const line = (/** @type {readonly string[]} */ row) => `| ${row.join(" | ")} |`;
  await writeTable(WRITER, [line(head), `|${"---|".repeat(head.length)}`, line(cells)].join("\n"));
}
