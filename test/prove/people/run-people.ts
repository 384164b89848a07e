import { startPostgres } from "../../support/postgres.js";
import type { Violation } from "./judge-books.js";
import { tellStory } from "./log.js";
import { makeScenario } from "./make-scenario.js";
import { play } from "./play.js";
import type { Round } from "./round.js";
import type { Scenario } from "./scenario.js";
import { settle, type Verdict } from "./settle.js";
import { shrink } from "./shrink.js";
import { openStage, type Stage, type StageOptions } from "./stage.js";

export interface PeopleOptions extends Omit<StageOptions, "charges"> {
  /** The first round's seed; each further round takes the next. */
  readonly seed: number;
  /** The seeds of single rounds that are played first. */
  readonly firstSeeds?: readonly number[];
  /** The first limit that is reached ends the run: rounds, minutes or carts. Default: 25 rounds. */
  readonly rounds?: number;
  readonly minutes?: number;
  readonly carts?: number;
  /** The number of worlds that run in parallel. Default 2. */
  readonly workers?: number;
  /** A scenario to play once, instead of scenarios made from seeds. */
  readonly scenario?: Scenario;
  /** The most replays to shrink a violated scenario. Default 40. */
  readonly shrinkTries?: number;
  /** A PostgreSQL server to use. Default: a new one. */
  readonly postgresUrl?: string;
  readonly onRound?: (result: RoundResult, progress: { readonly carts: number }) => void;
  readonly say?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** The result of a round. */
export interface RoundResult {
  readonly seed: number;
  readonly carts: number;
  readonly seconds: number;
  readonly violations: readonly Violation[];
  /** If there are violations: the shortest scenario that still has one, and its story. */
  readonly scenario?: Scenario;
  readonly story?: string;
}

export interface PeopleResult {
  readonly seed: number;
  readonly carts: number;
  readonly minutes: number;
  readonly rounds: readonly RoundResult[];
  /** The number of times that each kind of step had each outcome. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Lets random people act on real shops, and checks the answers and the books against the promises. */
export async function runPeople(options: PeopleOptions): Promise<PeopleResult> {
  const { seed, minutes, workers = 2, scenario, firstSeeds = [], shrinkTries = 40, signal } = options;
  const { say = () => {} } = options;
  const startedAt = performance.now();
  const postgres = options.postgresUrl === undefined ? await startPostgres() : null;
  const postgresUrl = options.postgresUrl ?? (postgres?.url as string);
  const results: RoundResult[] = [];
  const counts: Record<string, Record<string, number>> = {};
  const most = scenario ? 1 : (options.rounds ?? (minutes || options.carts ? Number.POSITIVE_INFINITY : 25));
  let begun = 0;
  let carts = 0;
  let playingSince = 0;
  const isOver = () =>
    signal?.aborted === true ||
    begun >= most ||
    (options.carts !== undefined && carts >= options.carts) ||
    (minutes !== undefined && playingSince > 0 && performance.now() - playingSince > minutes * 60_000);
  /** The kinds of violations that were already shrunk: each is shrunk once. */
  const shrunk = new Set<string>();
  const finish = async ({ stage, played, round, verdict, seconds }: Settled) => {
    const { violations, books } = verdict;
    const base = { seed: played.seed, carts: played.carts.length, seconds, violations };
    const kinds = [...new Set(violations.map(({ kind }) => kind))];
    let found = violations.length > 0 && {
      scenario: played,
      story: tellStory(stage, round, books, violations),
    };
    const isNew = kinds.some((kind) => !shrunk.has(kind));
    for (const kind of kinds) shrunk.add(kind);
    if (isNew && shrinkTries > 0) {
      say(`seed ${played.seed}: ${kinds.join(", ")}; shrinking the scenario`);
      found = (await shrink(stage, played, violations, { tries: shrinkTries, signal })) ?? found;
    }
    const result = { ...base, ...(found || {}) };
    results.push(result);
    options.onRound?.(result, { carts });
  };
  const work = async () => {
    /** A world for each way of charging cards, opened on first use. */
    const stages = new Map<Scenario["charges"], Stage>();
    const stageOf = async (charges: Scenario["charges"]) => {
      const stage = stages.get(charges) ?? (await openStage(postgresUrl, { ...options, charges }));
      stages.set(charges, stage);
      playingSince ||= performance.now();
      return stage;
    };
    /** The previous round, which settles while the next one is played. */
    let settling: Promise<Settled> | undefined;
    try {
      while (!isOver()) {
        const played = scenario ?? makeScenario(firstSeeds[begun] ?? seed + begun - firstSeeds.length);
        begun += 1;
        carts += played.carts.length;
        const before = settling;
        const stage = await stageOf(played.charges);
        const startedAt = performance.now();
        const round = await play(stage, played);
        countEntries(counts, round);
        settling = settleRound(stage, played, round, startedAt);
        const settled = await before;
        // A replay needs an idle stage, so let the current round settle before shrinking the previous one.
        if (settled && settled.verdict.violations.length > 0) await settling;
        if (settled) await finish(settled);
      }
      if (settling) await finish(await settling);
    } finally {
      await settling?.catch(() => {});
      for (const stage of stages.values()) await stage.close();
    }
  };
  try {
    say(`starting ${workers} worlds, each with two Medusas for each way of charging cards`);
    await Promise.all(Array.from({ length: Math.min(workers, most) }, work));
  } finally {
    await postgres?.stop();
  }
  const ended = results.sort((a, b) => a.seed - b.seed);
  return { seed, carts, minutes: (performance.now() - startedAt) / 60_000, rounds: ended, counts };
}

interface Settled {
  readonly stage: Stage;
  readonly played: Scenario;
  readonly round: Round;
  readonly verdict: Verdict;
  readonly seconds: number;
}

async function settleRound(stage: Stage, played: Scenario, round: Round, startedAt: number): Promise<Settled> {
  const verdict = await settle(stage, round);
  return { stage, played, round, verdict, seconds: (performance.now() - startedAt) / 1000 };
}

function countEntries(counts: Record<string, Record<string, number>>, { entries }: Round): void {
  for (const { step, status, type, code } of entries) {
    const of = (counts[step] ??= {});
    const isRefusal = status >= 400 || status === 0 || type === "cart";
    const outcome = isRefusal
      ? [status || "no answer", type === "cart" ? "cart" : code].filter(Boolean).join(" ")
      : (type ?? "ok");
    of[outcome] = (of[outcome] ?? 0) + 1;
  }
}
