import { Command } from "commander";
import { connect } from "./connection.js";
import { readEventFile } from "./event-file.js";
import { exitCodes, Failure } from "./failure.js";
import { printable, say, wholeNumber } from "./output.js";
import { isUnanswered, pushEvents } from "./push.js";
import { fields, validate } from "./validation.js";

const SHOWN_FAULTS = 50;

/** @typedef {import("./event-file.js").Fault} Fault */

const FIELDS = `
Columns: ${fields.required.join(", ")}
and, where you have them: ${fields.columns.filter((column) => !fields.required.includes(column)).join(", ")}

Every row is checked before anything is sent. Pushing a file again is safe and makes nothing twice: an event is known by
its event_key, and one without by what its row holds. An event that exists is left as it is.`;

/** `push`: makes the events of a file. */
export const pushCommand = () =>
  new Command("push")
    .description("make the events of a file")
    .argument("<file>", "events.csv with a header, or events.json with an array")
    .option("--dry-run", "check the file, and make nothing")
    .option("--retries <n>", "how often to send again what got no answer", wholeNumber(0, 99), 4)
    .option("--json", "print the report as one JSON value")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", FIELDS)
    .action(push);

/** @param {string} file @param {{ dryRun?: boolean, retries: number, json?: boolean }} options */
async function push(file, { dryRun, retries, json }) {
  const read = await readEventFile(file, fields);
  // A dry run needs no service; with its address, the providers are checked too.
  const connection =
    dryRun && !process.env.GIFTCARD_BASE_URL ? undefined : connect(process.env, { withKey: !dryRun });
  const providers = await connection?.client.listProviders();
  const { events, faults } = validate(read.rows, providers && new Set(providers.map(({ id }) => id)));
  refuseFaulty(file, [...read.faults, ...faults]);
  if (dryRun || !connection) {
    const unchecked = connection ? "" : " The providers are not checked: GIFTCARD_BASE_URL is not set.";
    const report = { file, checked: events.length, providersChecked: Boolean(connection) };
    return say(json ? JSON.stringify(report) : `${file}: ${events.length} events, no faults.${unchecked}`);
  }
  const { results, error } = await pushEvents(connection, events, {
    retries,
    progress: (text) => void process.stderr.write(`${text}\n`),
  });
  const report = { file, ...countsOf(results), events: results };
  if (!json) say(textOf(results));
  if (error) throw failureOf(error, report);
  if (json) say(JSON.stringify(report));
}

/** @param {string} file @param {Fault[]} faults */
function refuseFaulty(file, faults) {
  if (faults.length === 0) return;
  faults.sort((a, b) => a.row - b.row);
  const lines = faults.slice(0, SHOWN_FAULTS).map(({ row, column, message }) => {
    const place = column ? `row ${row}, ${column}` : `row ${row}`;
    return `  ${printable(place)}: ${message}`;
  });
  const more = faults.length - lines.length;
  if (more > 0) lines.push(`  and ${more} more; --json shows them all`);
  throw new Failure(
    `${file} has faults; nothing was sent. Mend them and push again.\n${lines.join("\n")}`,
    exitCodes.faultyRows,
    { faults },
  );
}

/** @param {unknown} error @param {object} report */
function failureOf(error, report) {
  const { message } = /** @type {Error} */ (error);
  const [advice, exitCode] = isUnanswered(error)
    ? ["It is not known what the service made of what it was sent last.", exitCodes.unanswered]
    : ["What was created stays. Mend the cause.", exitCodes.failed];
  return new Failure(
    `${message} ${advice} Push the same file again: nothing is made twice.`,
    exitCode,
    report,
  );
}

/** @param {import("./push.js").Result[]} results */
function countsOf(results) {
  const counts = { created: 0, existing: 0, unknown: 0, refused: 0, not_sent: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

/** @param {import("./push.js").Result[]} results */
function textOf(results) {
  const lines = results.map(({ row, outcome, id, title, fault }) => {
    const more = id === undefined ? fault : `id ${id}`;
    return printable(`row ${row}: ${outcome.replace("_", " ")}, ${title}${more ? ` (${more})` : ""}`);
  });
  const counts = Object.entries(countsOf(results)).filter(([, count]) => count > 0);
  return [
    ...lines,
    counts.map(([outcome, count]) => `${count} ${outcome.replace("_", " ")}`).join(", "),
  ].join("\n");
}
