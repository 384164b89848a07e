import { startGiftcardService } from "../support/service.js";
import { compareBooks } from "./books.js";
import { type Fault, startPair } from "./pair.js";
import { Sales } from "./sales.js";

const CALLERS = 64;
const CARDS = 8;
const CARD_CENTS = 50_000_000;
/** So many sales are answered before each fault, and after it. */
const SALES_BETWEEN = 200;

export interface FailoverResult {
  readonly rounds: number;
  readonly sales: number;
  readonly canceled: number;
  /** First answers that didn't say what had happened; each was asked for again. */
  readonly unknown: number;
  readonly refused: number;
  /** The longest time without an answered sale, of all rounds. */
  readonly worstPauseMs: number;
  readonly differences: readonly string[];
}

/**
 * Sells while one primary after the other goes and its synchronous standby takes over, and holds what was answered
 * against the books.
 *
 * @param faults what happens to each primary, a round each
 * @param restsBetween whether nobody sells while the next standby is copied: with sales, that takes minutes on a machine
 *   with other work
 */
export async function runFailover({
  faults,
  restsBetween = false,
  say = () => {},
  signal,
}: {
  faults: readonly Fault[];
  restsBetween?: boolean;
  say?: (text: string) => void;
  signal?: AbortSignal | undefined;
}): Promise<FailoverResult> {
  const pair = await startPair();
  try {
    const args = ["--calls-per-minute", "0", "--company-calls-per-minute", "0", "--log-level", "silent"];
    const service = await startGiftcardService({ databaseUrl: pair.url, args, issuedAtOnce: CARDS });
    let sales: Sales | undefined;
    try {
      const company = await service.createCompany();
      const cards = [];
      for (let n = 0; n < CARDS; n++) cards.push(await service.issueCard({ balanceCents: CARD_CENTS }));
      sales = new Sales(service.url, company, cards);
      sales.begin(CALLERS);
      for (const [index, fault] of faults.entries()) {
        signal?.throwIfAborted();
        await sales.more(SALES_BETWEEN);
        await pair.failOver(fault);
        await sales.more(SALES_BETWEEN);
        // Nothing follows the last one.
        if (index < faults.length - 1) await (restsBetween ? sales.restDuring(pair.restore) : pair.restore());
        const pause = `${(sales.worstPauseMs / 1000).toFixed(1)} s`;
        say(`round ${index + 1}: primary ${fault}, ${sales.answered.length} sales, worst pause ${pause}`);
      }
      await sales.end();
      const { primary } = pair;
      const differences = await compareBooks({
        ...{ service, primary, sales, cards },
        issuedCents: CARD_CENTS,
      });
      return {
        rounds: faults.length,
        sales: sales.answered.length,
        canceled: sales.answered.filter(({ canceled }) => canceled).length,
        unknown: sales.unknown,
        refused: sales.refused,
        worstPauseMs: Math.round(sales.worstPauseMs),
        differences,
      };
    } finally {
      sales?.giveUp();
      await service.stop();
    }
  } finally {
    await pair.close();
  }
}
