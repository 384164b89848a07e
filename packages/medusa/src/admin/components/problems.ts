import type { ProtocolErrorCode } from "@giftcard-pay/client";
import { type HealthView, useBulkRefunds, useHealth, useJobs, usePayments } from "../client/queries.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { codeText } from "./labels.js";

/** A fault in the shop's setup that a person has to fix. */
interface Problem {
  readonly name: string;
  readonly about: string;
}

/** The faults of the service that stay until the shop's configuration is corrected. The others may pass by themselves. */
const lasting: Record<ProtocolErrorCode, true> = {
  unreadable_answer: true,
  unexpected_answer: true,
  redirected: true,
  wrong_environment: true,
  extension_not_supported: true,
};

/** Beyond this, times in the logs of the two sides can't be compared. */
const CLOCK_LIMIT_MS = 5_000;

/** Explains that the shop waits for the service, and why; null if it doesn't. */
export function outageText(texts: Texts, { service: { isReachable, fault } }: HealthView): string | null {
  const code = fault ?? "timeout";
  if (isReachable || code in lasting) return null;
  return texts.t("health.lost", { code, reason: codeText(texts, "reasons", code) });
}

function problemsOf(texts: Texts, health: HealthView): Problem[] {
  const { t, why } = texts;
  const { service, regions, seals, clock, processes } = health;
  const code = service.fault ?? "timeout";
  const names = regions.map(({ name }) => name).join(", ");
  const aheadMs = Math.max(Math.abs(clock.databaseAheadMs), Math.abs(clock.serviceAheadMs ?? 0));
  const problems: [isThere: boolean, name: string, about: string][] = [
    [
      !service.isReachable && code in lasting,
      t("health.service"),
      t("health.misconfigured", { code, reason: codeText(texts, "reasons", code) }),
    ],
    [service.isKeyValid === false, t("health.key"), t("health.keyFix")],
    [regions.length === 0, t("health.regions"), t("health.noEuroFix")],
    [
      regions.length > 0 && !regions.some(({ takesGiftcards }) => takesGiftcards),
      t("health.regions"),
      t("health.noRegionFix", { regions: names }),
    ],
    [
      seals.unopenable > 0,
      t("health.seals"),
      t("health.unreadableFix", { count: seals.unopenable, keys: seals.missingKeyIds.join(", ") }),
    ],
    [aheadMs > CLOCK_LIMIT_MS, t("health.clocks"), t("health.clocksFix")],
    [
      processes.warnings.length > 0,
      t("health.processes"),
      t("health.processesFix", { warnings: why(processes.warnings) }),
    ],
  ];
  return problems.filter(([isThere]) => isThere).map(([, name, about]) => ({ name, about }));
}

/** Reads everything that needs a person, and its number; undefined until its lists are read. */
export function useOpenWork() {
  const texts = useTexts();
  const health = useHealth().data;
  const attention = usePayments({ states: ["needs_attention"] }).data;
  const jobs = useJobs().data?.jobs;
  const refunds = useBulkRefunds().data?.bulkRefunds.filter(({ waiting }) => waiting.length > 0);
  if (!attention || !jobs || !refunds) return undefined;
  const waiting = refunds.reduce((sum, one) => sum + one.waiting.length, 0);
  const problems = health ? problemsOf(texts, health) : [];
  const isOut = health !== undefined && outageText(texts, health) !== null;
  return {
    ...{ attention, jobs, refunds, problems, isOut },
    count: problems.length + attention.count + jobs.length + waiting,
  };
}
