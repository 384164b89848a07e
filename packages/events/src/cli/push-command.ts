import { Command } from "commander";
import { hasBegun, newEventFaults } from "../newevent.js";
import { requiredFields, rowFields, rowOf } from "../row.js";
import { connect } from "./connection.js";
import { openEventFile } from "./event-file.js";
import { exitCodes, Failure } from "./failure.js";
import { timeZoneOption } from "./formats.js";
import { printable, refuseFaulty, say, tell, wholeNumber } from "./output.js";
import { isUnanswered, isUnsent, pushEvents, type Result } from "./push.js";

const needed: readonly string[] = ["eventprovider_id", ...requiredFields];

const FIELDS = `
Columns: ${needed.join(", ")}
and, where you have them: ${rowFields.filter((field) => !needed.includes(field)).join(", ")}

Every row is checked before anything is sent. Pushing a file again is safe and makes nothing twice: an event is known by
its event_key, and one without by what its row holds. An event that exists is left as it is. One that has begun is not sent:
the interface takes none. Nor is one that is canceled or withdrawn, as the interface can't take it back: write a feed.`;

/** `push`: makes the events of a file. */
export const pushCommand = (): Command =>
  new Command("push")
    .description("make the events of a file")
    .argument("<file>", "events.csv with a header, events.json with an array, or a feed")
    .option("--dry-run", "check the file, and make nothing")
    .option("--retries <n>", "how often to send again what got no answer", wholeNumber(0, 99), 4)
    .addOption(timeZoneOption())
    .option("--json", "print the report as one JSON value")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", FIELDS)
    .action(push);

interface PushCommandOptions {
  readonly dryRun?: boolean;
  readonly retries: number;
  readonly timezone: string;
  readonly json?: boolean;
}

async function push(file: string, { dryRun, retries, timezone, json }: PushCommandOptions) {
  const read = await openEventFile(file);
  // A dry run needs no service; with its address, the providers are checked too.
  const connection =
    dryRun && !process.env.GIFTCARD_BASE_URL ? undefined : connect(process.env, { withKey: !dryRun });
  const providers = await connection?.client.listProviders();
  const service = { providerIds: providers && new Set(providers.map(({ id }) => id)) };
  const { entries, faults } = read({
    timeZone: timezone,
    judge: (row, values) => newEventFaults(row, values, service),
  });
  refuseFaulty(file, faults, "nothing was sent. Mend them and push again.");
  const drafts = entries.filter(({ event }) => event.state === "draft").length;
  if (drafts > 0)
    tell(
      `${drafts} of ${entries.length} events are drafts: their activated isn't 1. The service gets them as not published, ` +
        "and nothing in the interface publishes them later.",
    );
  const past = entries.filter(({ event }) => hasBegun(rowOf(event), new Date())).length;
  if (past > 0) tell(`${past} of ${entries.length} events have begun: the interface takes none that has.`);
  if (dryRun || !connection) {
    const unchecked = connection ? "" : " The providers are not checked: GIFTCARD_BASE_URL is not set.";
    const report = { file, checked: entries.length, drafts, past, providersChecked: Boolean(connection) };
    return say(json ? JSON.stringify(report) : `${file}: ${entries.length} events, no faults.${unchecked}`);
  }
  const { results, error } = await pushEvents(connection, entries, { retries, progress: tell });
  const report = { file, ...countsOf(results), drafts, events: results };
  if (!json) say(textOf(results));
  if (error) throw failureOf(error, report);
  if (json) say(JSON.stringify(report));
}

function failureOf(error: unknown, report: object): Failure {
  const { message } = error as Error;
  const [advice, exitCode] = isUnsent(error)
    ? ["Check GIFTCARD_BASE_URL, and whether the service runs.", exitCodes.unanswered]
    : isUnanswered(error)
      ? ["It is not known what the service made of what it was sent last.", exitCodes.unanswered]
      : ["What was created stays. Mend the cause.", exitCodes.failed];
  return new Failure(
    `${message} ${advice} Push the same file again: nothing is made twice.`,
    exitCode,
    report,
  );
}

function countsOf(results: readonly Result[]) {
  const counts = {
    created: 0,
    existing: 0,
    unknown: 0,
    refused: 0,
    not_sent: 0,
    past: 0,
    canceled: 0,
    withdrawn: 0,
  };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

function textOf(results: readonly Result[]): string {
  const lines = results.map(({ row, outcome, id, title, fault }) => {
    const more = id === undefined ? fault : `id ${id}`;
    return printable(`row ${row}: ${outcome.replace("_", " ")}, ${title}${more ? ` (${more})` : ""}`);
  });
  const counts = Object.entries(countsOf(results)).filter(([, count]) => count > 0);
  const isLeft = results.some(({ outcome }) => outcome === "existing");
  return [
    ...lines,
    ...(isLeft
      ? ["Those that exist are left as they are: what has changed in the file isn't sent. A feed has it."]
      : []),
    counts.map(([outcome, count]) => `${count} ${outcome.replace("_", " ")}`).join(", "),
  ].join("\n");
}
