import { startGiftcardService } from "../../support/service.js";
import { compareBooks } from "./books.js";
import { type Fault, startPair } from "./pair.js";
import { Sales } from "./sales.js";

const CALLERS = 64;
const CARDS = 8;
const CARD_CENTS = 50_000_000;
/** The number of answered sales before each failure, and after it. */
const SALES_BETWEEN = 200;

export interface FailoverResult {
  readonly rounds: number;
  readonly sales: number;
  readonly canceled: number;
  /** Calls with an unknown outcome, such as a lost answer or a 500. Each was retried with the same key. */
  readonly unknown: number;
  /** Calls that were rejected with 503: nothing was done. */
  readonly rejected: number;
  /** The longest time between two answered sales. */
  readonly worstPauseMs: number;
  readonly differences: readonly string[];
}

/**
 * Sells while primaries fail and their synchronous standbys take over, and compares the answers with the books.
 *
 * @param faults how the primary fails, in each round
 * @param restsBetween stops selling while the next standby is copied, which otherwise takes minutes on a busy machine
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
    const args = ["--calls-per-minute", "0", "--log-level", "silent"];
    const service = await startGiftcardService({ databaseUrl: pair.url, args });
    let sales: Sales | undefined;
    try {
      const company = await service.createCompany();
      const cards = [];
      for (let n = 0; n < CARDS; n++) cards.push(await service.issueCard({ balanceCents: CARD_CENTS }));
      sales = new Sales(service.url, company, cards);
      sales.start(CALLERS);
      for (const [index, fault] of faults.entries()) {
        signal?.throwIfAborted();
        await sales.waitFor(SALES_BETWEEN);
        await pair.failOver(fault);
        await sales.waitFor(SALES_BETWEEN);
        // No further failure follows the last one.
        if (index < faults.length - 1) await (restsBetween ? sales.restDuring(pair.restore) : pair.restore());
        const pause = `${(sales.worstPauseMs / 1000).toFixed(1)} s`;
        say(`round ${index + 1}: primary ${fault}, ${sales.answered.length} sales, worst pause ${pause}`);
      }
      await sales.end();
      const { primary } = pair;
      const differences = await compareBooks({ service, primary, sales, cards, issuedCents: CARD_CENTS });
      return {
        rounds: faults.length,
        sales: sales.answered.length,
        canceled: sales.answered.filter(({ canceled }) => canceled).length,
        unknown: sales.unknown,
        rejected: sales.rejected,
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
