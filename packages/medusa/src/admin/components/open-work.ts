import { useBulkRefunds, useCharges, useHealth, useJobs, useUnpaidOrders } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { healthTiles, problemsOf } from "./health-tiles.js";

export const OPEN_WORK_LIMIT = 100;

/** Reads everything that needs a person, and its number; undefined until its lists are read. */
export function useOpenWork() {
  const texts = useTexts();
  const health = useHealth().data;
  const attention = useCharges({ states: ["needs_attention"], limit: OPEN_WORK_LIMIT, offset: 0 }).data;
  const unpaid = useUnpaidOrders().data;
  // Reversals and unknown outcomes are charges, and listed as such.
  const jobs = useJobs().data?.jobs.filter(({ kind }) => kind !== "reversal" && kind !== "outcome");
  const refunds = useBulkRefunds().data?.bulkRefunds.filter(({ waiting }) => waiting.length > 0);
  if (!attention || !unpaid || !jobs || !refunds) return undefined;
  const waiting = refunds.reduce((sum, one) => sum + one.waiting.length, 0);
  const tiles = health ? healthTiles(texts, health) : [];
  const [problems, cancelStop] = [problemsOf(tiles), health?.cancelStop ?? null];
  return {
    ...{ attention, unpaid, jobs, refunds, problems, cancelStop },
    /** Whether the shop waits for the service. */
    isAwaiting: tiles.some(({ isAwaited }) => isAwaited),
    count: problems.length + (cancelStop ? 1 : 0) + attention.count + unpaid.count + jobs.length + waiting,
  };
}
