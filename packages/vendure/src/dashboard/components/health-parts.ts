import type { HealthView } from "../client/calls.js";
import type { Texts } from "../i18n/use-texts.js";

/** Beyond this, times in the logs of the two sides can't be compared. */
const CLOCK_LIMIT_MS = 5_000;

/** A part of the shop's health: its name, its state and an explanation. */
export interface HealthPart {
  readonly name: string;
  readonly tone: "success" | "destructive" | "secondary";
  readonly label: string;
  readonly about: string;
}

/** Describes each part of the shop's health. */
export const healthParts = (texts: Texts, health: HealthView): HealthPart[] =>
  [servicePart, keyPart, workPart, sealsPart, clocksPart].map((part) => part(texts, health));

/** Faults of the service that stay until the shop's configuration is corrected. Others may pass by themselves. */
const lasting = [
  "unreadable_answer",
  "unexpected_answer",
  "redirected",
  "wrong_environment",
  "extension_not_supported",
];

function servicePart({ t, number, codeText }: Texts, { service }: HealthView): HealthPart {
  const name = t("health.service");
  const ms = number(service.answeredInMs);
  if (service.isReachable)
    return { name, tone: "success", label: t("health.reachable"), about: t("health.respondedIn", { ms }) };
  const code = service.fault ?? "timeout";
  const values = { code, reason: codeText("reasons", code) };
  const about = lasting.includes(code) ? t("health.misconfigured", values) : t("health.lost", values);
  return { name, tone: "destructive", label: t("health.unreachable"), about };
}

function keyPart({ t }: Texts, { service: { isKeyValid } }: HealthView): HealthPart {
  const name = t("health.key");
  if (isKeyValid === false)
    return { name, tone: "destructive", label: t("health.keyRefused"), about: t("health.keyFix") };
  return isKeyValid
    ? { name, tone: "success", label: t("health.keyValid"), about: t("health.keyTested") }
    : { name, tone: "secondary", label: t("common.notKnown"), about: t("health.keyUntested") };
}

function workPart({ t, time }: Texts, { purchases: { open, failing }, recovery }: HealthView): HealthPart {
  const name = t("health.work");
  if (recovery.isLate)
    return {
      name,
      tone: "destructive",
      label: t("health.late"),
      about: t("health.lastRun", { time: time(recovery.lastRunAt) }),
    };
  const label = failing > 0 ? t("health.failing", { count: failing }) : t("health.noneFails");
  const about = open > 0 ? t("health.unsettled", { count: open }) : t("health.noneUnsettled");
  return { name, tone: failing > 0 ? "destructive" : "success", label, about };
}

function sealsPart({ t }: Texts, { seals }: HealthView): HealthPart {
  const { counts, newestKeyId, unopenable, missingKeyIds } = seals;
  const name = t("health.seals");
  const under = Object.entries(counts).map(([key, count]) =>
    key === newestKeyId ? t("health.underNewest", { count, key }) : t("health.under", { count, key }),
  );
  const about = under.length === 0 ? t("health.noSeals") : under.join(", ");
  if (unopenable === 0) return { name, tone: "success", label: t("health.readable"), about };
  const fix = t("health.unreadableFix", { keys: missingKeyIds.join(", ") });
  return { name, tone: "destructive", label: t("health.unreadable", { count: unopenable }), about: `${fix} ${about}` };
}

function clocksPart(texts: Texts, { clock: { databaseAheadMs, serviceAheadMs } }: HealthView): HealthPart {
  const { t } = texts;
  const name = t("health.clocks");
  const aheadMs = Math.max(Math.abs(databaseAheadMs), Math.abs(serviceAheadMs ?? 0));
  const service = serviceAheadMs === null ? t("common.notKnown") : aheadText(texts, serviceAheadMs);
  const about = t("health.compared", { database: aheadText(texts, databaseAheadMs), service });
  if (aheadMs <= CLOCK_LIMIT_MS) return { name, tone: "success", label: t("health.clocksAgree"), about };
  return { name, tone: "destructive", label: t("health.clocksDiffer"), about: `${t("health.clocksFix")} ${about}` };
}

function aheadText({ t, number }: Texts, aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (seconds === 0) return t("health.sameTime");
  return aheadMs > 0
    ? t("health.ahead", { seconds: number(seconds) })
    : t("health.behind", { seconds: number(seconds) });
}
