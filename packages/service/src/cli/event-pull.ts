import { type Command, InvalidArgumentError } from "commander";
import { checkConnection } from "../database/database.js";
import { FeedFailure } from "../feed/feed-failure.js";
import { feedUrlOf } from "../feed/fetch-feed.js";
import type { PullReport } from "../feed/pull-feed.js";
import { type PullOutcome, pullRegularly } from "../feed/pull-regularly.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { listFeeds, PullOvertaken } from "../store/event-feeds.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, type Context, command, withContext } from "./context.js";
import { listenForSignals } from "./ending.js";
import { identifier, wholeNumber } from "./output.js";

interface PullOptions extends CommonOptions, ActOptions {
  readonly company?: number;
  readonly url?: string | undefined;
  readonly every?: number;
  readonly timeout: number;
  readonly dryRun: boolean;
  readonly acceptShrink: boolean;
  readonly allowPrivate: boolean;
}

const DEFAULT_TIMEOUT_SECONDS = 60;
const DAY_MINUTES = 24 * 60;

/** `events pull` */
export const eventPull = (): Command =>
  addActOptions(
    command("pull", "Pull feeds of events: make each company's events what its feed says, all or nothing"),
    { isReasonRequired: false },
  )
    .option(
      "--company <id>",
      "of this company alone; left out, every feed that was pulled before",
      identifier,
    )
    .option("--url <address>", "the company's feed; left out, the one that was pulled last", feedUrl)
    .option("--every <minutes>", "go on until SIGTERM, and pull so often", wholeNumber(1, DAY_MINUTES))
    .option("--timeout <seconds>", "for a whole feed", wholeNumber(1, 600), DEFAULT_TIMEOUT_SECONDS)
    .option("--dry-run", "say what would change, and change nothing", false)
    .option("--accept-shrink", "also where more than half of the events to come are missing", false)
    .option(
      "--allow-private",
      "with --url: also in the network around this machine, there by http too",
      false,
    )
    .addHelpText(
      "after",
      '\nA feed is { "events": [...] }, over https. With one fault nothing is changed, and all are listed by their places.\n' +
        "Events that `newevent` made and the feed doesn't have are left alone. With --every and --json, a line for each pull.",
    )
    .action(async (options: PullOptions) => {
      refuseMixed(options);
      // A pull that goes on for months runs all of one version.
      await loadPulls();
      return options.every === undefined ? pullOnce(options) : pullEvery(options, options.every);
    });

function feedUrl(text: string): string {
  const url = feedUrlOf(text, { allowsHttp: true });
  if (!url) throw new InvalidArgumentError("Give an https address, without a user or password in it.");
  return url.href;
}

function refuseMixed(options: PullOptions): void {
  const { company, url, every, dryRun, acceptShrink, allowPrivate, reason } = options;
  const wrong =
    (url !== undefined && company === undefined && "Say whose feed it is, with --company.") ||
    (url?.startsWith("http:") &&
      !allowPrivate &&
      "Give an https address: http is for the network around this machine alone, with --allow-private.") ||
    (allowPrivate && url === undefined && "--allow-private goes with --url, and is kept with the feed.") ||
    (acceptShrink && company === undefined && "--accept-shrink is for the feed of one company: name it.") ||
    (acceptShrink && reason === undefined && "--accept-shrink wants a --reason.") ||
    (every !== undefined &&
      (dryRun || acceptShrink) &&
      "--every goes with neither --dry-run nor --accept-shrink.");
  if (wrong) throw new OperatorError(wrong, exitCodes.usage);
}

const pullOnce = (options: PullOptions): Promise<void> =>
  withContext(options, async (context) => {
    const { pool, out } = context;
    if (options.company !== undefined) {
      const report = await pull(context, options, options.company);
      return out.result(wireOf(report, options), lineOf(report));
    }
    const ended = [];
    for (const { companyId } of await listFeeds(pool)) ended.push(await attempt(context, options, companyId));
    const details = { pulls: ended.map(({ wire }) => wire) };
    const text = ended.map(({ line }) => line).join("\n");
    const failed = ended.filter(({ failure }) => failure);
    const [first] = failed;
    if (first?.failure) {
      const what = `${failed.length} of ${ended.length} feeds could not be pulled:\n${text}`;
      throw new OperatorError(what, first.failure.exitCode, details);
    }
    out.result(details, text || "no feeds");
  });

const pullEvery = (options: PullOptions, minutes: number): Promise<void> =>
  withContext(options, async (context) => {
    const { pool, out, ownsDatabase } = context;
    if (ownsDatabase) {
      throw new OperatorError(
        "No service runs on this data directory, and --every would keep it from its database. Start `serve` first.",
        exitCodes.conflict,
      );
    }
    const ending = new AbortController();
    void listenForSignals().asked.then(() => ending.abort());
    // The feed keeps its address from the first pull that is done, and may be removed or moved after that.
    let next = options;
    await pullRegularly({
      everyMs: minutes * 60_000,
      signal: ending.signal,
      companies: async () => {
        await checkConnection(pool);
        return options.company === undefined
          ? (await listFeeds(pool)).map(({ companyId }) => companyId)
          : [options.company];
      },
      async pull(companyId): Promise<PullOutcome> {
        const { wire, line, failure } = await attempt(context, next, companyId, ending.signal);
        if (!failure) next = { ...options, url: undefined };
        if (ending.signal.aborted && failure) return "done";
        if (failure && !options.json) out.warn(line);
        else out.result(wire, line);
        return failure ? { retryAfterSeconds: retryAfterOf(failure) } : "done";
      },
    });
  });

const retryAfterOf = (failure: OperatorError) =>
  failure instanceof FeedFailure ? failure.retryAfterSeconds : undefined;

/** Loaded for it alone, so that every other command begins sooner. */
const loadPulls = () => import("../feed/pull-feed.js");

async function pull(
  { pool, out }: Context,
  { url, allowPrivate, timeout, acceptShrink, dryRun, ...act }: PullOptions,
  companyId: number,
  signal?: AbortSignal,
): Promise<PullReport> {
  const { pullFeed } = await loadPulls();
  return pullFeed(
    pool,
    {
      companyId,
      address: url === undefined ? undefined : { url, allowsPrivate: allowPrivate },
      timeoutMs: timeout * 1000,
      acceptsShrink: acceptShrink,
      isDryRun: dryRun,
      signal,
      onProgress: (done, total, what) => out.progress(done, total, what),
    },
    actOf(act),
  );
}

/** What came of one of several pulls: a feed that fails keeps neither others nor itself from the next turn. */
interface Attempt {
  readonly wire: object;
  readonly line: string;
  readonly failure?: OperatorError;
}

async function attempt(
  context: Context,
  options: PullOptions,
  companyId: number,
  signal?: AbortSignal,
): Promise<Attempt> {
  try {
    const report = await pull(context, options, companyId, signal);
    return { wire: wireOf(report, options), line: lineOf(report) };
  } catch (error) {
    if (signal?.aborted) return { wire: {}, line: "", failure: new OperatorError("It was ended.") };
    if (!(error instanceof OperatorError)) {
      await checkConnection(context.pool);
      throw error;
    }
    // Where one company was named, it is no feed's fault that there is none of it.
    const isOfFeed = error instanceof FeedFailure || error instanceof PullOvertaken;
    if (!isOfFeed && options.company !== undefined) throw error;
    const { message, exitCode, details } = error;
    const wire = { company_id: companyId, error: message, exit_code: exitCode, ...details };
    return { wire, line: `company ${companyId}: ${message}`, failure: error };
  }
}

const wireOf = ({ companyId, isModified, ...report }: PullReport, { dryRun }: PullOptions) => ({
  company_id: companyId,
  url: report.url,
  modified: isModified,
  created: report.created,
  changed: report.changed,
  withdrawn: report.withdrawn,
  unchanged: report.unchanged,
  dry_run: dryRun,
});

function lineOf({ companyId, isModified, created, changed, withdrawn, unchanged }: PullReport): string {
  const counts = `${created.length} created, ${changed.length} changed, ${withdrawn.length} withdrawn, ${unchanged} unchanged`;
  return `company ${companyId}: ${isModified ? counts : "its server says that nothing has changed"}`;
}
