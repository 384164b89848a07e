import type { Command } from "commander";
import type { Reading } from "../check.js";
import { hasBegun, newEventFaults } from "../newevent.js";
import { isUnanswered, isUnsent } from "../push/create-events.js";
import { outcomes, pushEvents, type Result } from "../push/push-events.js";
import { requiredFields, rowFields, rowOf } from "../row.js";
import { connect } from "./connection.js";
import { type FileOptions, fileCommand, readEventFile } from "./event-file.js";
import { exitCodes, Failure, faultyFile, printable, say, tell, tellNotices, wholeNumber } from "./output.js";

const needed: readonly string[] = ["eventprovider_id", ...requiredFields];

const FIELDS = `
Columns: ${needed.join(", ")}
and, where you have them: ${rowFields.filter((field) => !needed.includes(field)).join(", ")}

Every row is validated before anything is sent. Pushing a file again is safe and creates nothing twice: an event is identified
by its event_key, or without one by its row's content. An existing event stays as it is. An event that has begun is not sent,
because the interface refuses it. A canceled or withdrawn event is not sent either: the interface can't retract it, but a feed
can.`;

/** `push`: sends the events of a file. */
export const pushCommand = (): Command =>
  fileCommand("push")
    .description("send the events of a file to the service")
    .option("--dry-run", "validate the file, and send nothing")
    .option("--skip-faulty", "send the events without faults, although others have some")
    .option("--retries <n>", "how often to retry a call without a response", wholeNumber(0, 99), 4)
    .option("--json", "print the report as one JSON value")
    .addHelpText("after", FIELDS)
    .action(push);

interface PushCommandOptions extends FileOptions {
  readonly dryRun?: boolean;
  readonly skipFaulty?: boolean;
  readonly retries: number;
  readonly json?: boolean;
}

async function push(file: string, { dryRun, skipFaulty, retries, json, ...options }: PushCommandOptions) {
  // A dry run needs no service. If its address is set, the providers are checked too.
  const connection = dryRun && !process.env.GIFTCARD_BASE_URL ? undefined : connect({ withKey: !dryRun });
  const providers = await connection?.client.listProviders();
  const service = { providerIds: providers && new Set(providers.map(({ id }) => id)) };
  const reading = await readEventFile(file, options, (row, values) => newEventFaults(row, values, service));
  const { entries, notices } = reading;
  tellNotices(file, reading);
  const isSkipping = skipFaulty && entries.length > 0;
  const faulty = faultyFile(
    file,
    reading,
    isSkipping ? "these events were not sent." : "nothing was sent. Fix them and push again.",
  );
  if (faulty && !isSkipping) throw faulty;
  const { drafts, past } = tellUnpublished(entries);
  if (dryRun || !connection) {
    if (faulty) throw faulty;
    const unchecked = connection ? "" : " The providers are not checked: GIFTCARD_BASE_URL is not set.";
    const report = { file, checked: entries.length, drafts, past, providersChecked: Boolean(connection), notices };
    return say(json ? JSON.stringify(report) : `${file}: ${entries.length} events, no faults.${unchecked}`);
  }
  const { client, replayed: wasReplayed } = connection;
  const { results, error } = await pushEvents(client, entries, { retries, progress: tell, wasReplayed });
  const report = { file, ...countsOf(results), drafts, notices, ...faulty?.details, events: results };
  if (!json) say(textOf(results));
  if (error) throw failureOf(error, report);
  if (faulty) throw new Failure(faulty.message, faulty.exitCode, report);
  if (json) say(JSON.stringify(report));
}

/** Reports and counts the events that will not be public. */
function tellUnpublished(entries: Reading["entries"]) {
  const drafts = entries.filter(({ event }) => event.state === "draft").length;
  if (drafts > 0)
    tell(
      `${drafts} of ${entries.length} events are drafts: their activated isn't 1. The service stores them as not published, ` +
        "and the interface can't publish them later.",
    );
  const past = entries.filter(({ event }) => hasBegun(rowOf(event), new Date())).length;
  if (past > 0)
    tell(`${past} of ${entries.length} events have begun. They are not sent, because the interface refuses them.`);
  return { drafts, past };
}

function failureOf(error: unknown, report: object): Failure {
  const { message } = error as Error;
  const [advice, exitCode] = isUnsent(error)
    ? ["Check GIFTCARD_BASE_URL, and whether the service runs.", exitCodes.unanswered]
    : isUnanswered(error)
      ? ["The service may have created the events of the last call.", exitCodes.unanswered]
      : ["The events that were created remain. Fix the cause.", exitCodes.failed];
  return new Failure(`${message} ${advice} Push the same file again: nothing is created twice.`, exitCode, report);
}

const countsOf = (results: readonly Result[]): Record<string, number> =>
  Object.fromEntries(outcomes.map((name) => [name, results.filter(({ outcome }) => outcome === name).length]));

function textOf(results: readonly Result[]): string {
  const lines = results.map(({ row, outcome, id, title, fault }) => {
    const more = id === undefined ? fault : `id ${id}`;
    return printable(`row ${row}: ${outcome.replace("_", " ")}, ${title}${more ? ` (${more})` : ""}`);
  });
  const counts = Object.entries(countsOf(results)).filter(([, count]) => count > 0);
  const isLeft = results.some(({ outcome }) => outcome === "existing");
  return [
    ...lines,
    ...(isLeft ? ["Existing events stay as they are: changes in the file aren't sent. Use a feed for changes."] : []),
    counts.map(([outcome, count]) => `${count} ${outcome.replace("_", " ")}`).join(", "),
  ].join("\n");
}
