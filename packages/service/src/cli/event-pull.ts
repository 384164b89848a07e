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
  addActOptions(command("pull", "Pull feeds of events: apply each feed to its company's events, all or nothing"), {
    isReasonRequired: false,
  })
    .option("--company <id>", "the company (default: all companies with a feed)", identifier)
    .option("--url <address>", "the feed's address (default: that of the last pull)", feedUrl)
    .option("--every <minutes>", "pull periodically until SIGTERM", wholeNumber(1, DAY_MINUTES))
    .option("--timeout <seconds>", "time limit of a pull", wholeNumber(1, 600), DEFAULT_TIMEOUT_SECONDS)
    .option("--dry-run", "show what would change, but change nothing", false)
    .option("--accept-shrink", "accept a feed that lacks more than half of its future events", false)
    .option("--allow-private", "with --url: allow an address in a private network, also by http", false)
    .addHelpText(
      "after",
      '\nA feed is { "events": [...] }, over https. If it has any fault, nothing is changed, and all faults are listed by event.\n' +
        "Events of `newevent` that the feed lacks are not changed. With --every and --json, each pull prints one line.",
    )
    .action(async (options: PullOptions) => {
      checkCombination(options);
      // Loaded first: a process that runs for months must not load a later version.
      await loadPulls();
      return options.every === undefined ? pullOnce(options) : pullEvery(options, options.every);
    });

function feedUrl(text: string): string {
  const url = feedUrlOf(text, { allowsHttp: true });
  if (!url) throw new InvalidArgumentError("Give an https address, without a user or password in it.");
  return url.href;
}

function checkCombination(options: PullOptions): void {
  const { company, url, every, dryRun, acceptShrink, allowPrivate, reason } = options;
  const wrong =
    (url !== undefined && company === undefined && "Name the feed's company with --company.") ||
    (url?.startsWith("http:") &&
      !allowPrivate &&
      "Give an https address. http is only for private networks, with --allow-private.") ||
    (allowPrivate && url === undefined && "--allow-private needs --url. It is stored with the feed.") ||
    (acceptShrink && company === undefined && "--accept-shrink needs --company.") ||
    (acceptShrink && reason === undefined && "--accept-shrink needs a --reason.") ||
    (every !== undefined &&
      (dryRun || acceptShrink) &&
      "--every cannot be combined with --dry-run or --accept-shrink.");
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
        "No service is running on this data directory, and --every would block its start. Start `serve` first.",
        exitCodes.conflict,
      );
    }
    const ending = new AbortController();
    void listenForSignals().requested.then(() => ending.abort());
    // The first successful pull stores the address. After that, the stored one counts, since it may be changed.
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

/** Loads the module on demand, so that other commands start faster. */
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

/** The result of one of several pulls. A failed pull does not stop the others. */
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
    if (signal?.aborted) return { wire: {}, line: "", failure: new OperatorError("It was interrupted.") };
    if (!(error instanceof OperatorError)) {
      await checkConnection(context.pool);
      throw error;
    }
    // A named company without a feed is a wrong argument, not a failed pull.
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
  return `company ${companyId}: ${isModified ? counts : "the server says that the feed has not changed"}`;
}
