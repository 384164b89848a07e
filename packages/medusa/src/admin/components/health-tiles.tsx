import type { ProtocolErrorCode } from "@giftcard-pay/client";
import { StatusBadge, Text } from "@medusajs/ui";
import { type HealthView, useBulkRefunds, useCharges, useHealth, useJobs } from "../client/queries.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { type BadgeColor, codeText } from "./labels.js";

/** Beyond this, times in the logs of the two sides can't be compared. */
const CLOCK_LIMIT_MS = 5_000;

/** A part of the shop's health: its name, its state and an explanation. */
export interface Tile {
  readonly name: string;
  readonly color: BadgeColor;
  readonly label: string;
  readonly about: string;
  /** Whether the tab "To do" lists each of its problems. */
  readonly isListed?: boolean;
  /** Whether the shop waits until it is over, without a person. */
  readonly isAwaited?: boolean;
}

/** Returns the parts that a person has to fix, without those whose problems have lists of their own. */
const problemsOf = (tiles: readonly Tile[]): Tile[] =>
  tiles.filter(({ color, isListed, isAwaited }) => (color === "red" || color === "orange") && !isListed && !isAwaited);

export const healthTiles = (texts: Texts, health: HealthView): Tile[] => [
  serviceTile(texts, health),
  keyTile(texts, health),
  regionsTile(texts, health),
  workTile(texts, health),
  sealsTile(texts, health),
  clocksTile(texts, health),
  processesTile(texts, health),
];

/** The faults of the service that stay until the shop's configuration is corrected. The others may pass by themselves. */
const lasting: Record<ProtocolErrorCode, true> = {
  unreadable_answer: true,
  unexpected_answer: true,
  redirected: true,
  wrong_environment: true,
  extension_not_supported: true,
};

function serviceTile(texts: Texts, { service: { isReachable, fault, answeredInMs } }: HealthView): Tile {
  const { t, number } = texts;
  const name = t("health.service");
  if (isReachable)
    return {
      ...{ name, color: "green", label: t("health.reachable") },
      about: t("health.respondedIn", { ms: number(answeredInMs) }),
    };
  const code = fault ?? "timeout";
  const isAwaited = !(code in lasting);
  const about = t(isAwaited ? "health.lost" : "health.misconfigured", {
    ...{ code, reason: codeText(texts, "reasons", code) },
  });
  return { name, color: "red", label: t("health.unreachable"), about, isAwaited };
}

function keyTile({ t }: Texts, { service: { isKeyValid } }: HealthView): Tile {
  const name = t("health.key");
  if (isKeyValid === false) return { name, color: "red", label: t("health.keyRefused"), about: t("health.keyFix") };
  return isKeyValid
    ? { name, color: "green", label: t("health.keyValid"), about: t("health.keyTested") }
    : { name, color: "grey", label: t("common.notKnown"), about: t("health.keyUntested") };
}

const NAMES_SHOWN = 4;

function regionsTile({ t }: Texts, { regions }: HealthView): Tile {
  const name = t("health.regions");
  const namesOf = (some: typeof regions) => {
    const more = some.length - NAMES_SHOWN;
    const names = some.slice(0, NAMES_SHOWN).map((region) => region.name);
    return (more > 0 ? [...names, t("common.more", { count: more })] : names).join(", ");
  };
  const others = namesOf(regions.filter(({ takesGiftcards }) => !takesGiftcards));
  const taking = regions.filter(({ takesGiftcards }) => takesGiftcards);
  if (regions.length === 0) return { name, color: "red", label: t("health.noEuro"), about: t("health.noEuroFix") };
  if (taking.length === 0)
    return { name, color: "red", label: t("health.noRegion"), about: t("health.noRegionFix", { regions: others }) };
  const counts = { accepting: taking.length, all: regions.length };
  const about = others === "" ? namesOf(taking) : t("health.notIn", { regions: others });
  return { name, color: "green", label: t("health.accepted", counts), about };
}

function workTile({ t }: Texts, { failingJobs }: HealthView): Tile {
  const name = t("health.work");
  if (failingJobs === 0) return { name, color: "green", label: t("health.noneFails"), about: "" };
  return { name, color: "red", label: t("health.jobsFail", { count: failingJobs }), about: "", isListed: true };
}

function sealsTile({ t }: Texts, { seals: { counts, newestKeyId, unopenable, missingKeyIds } }: HealthView): Tile {
  const name = t("health.seals");
  const under = Object.entries(counts).map(([keyId, count]) =>
    t(keyId === newestKeyId ? "health.underNewest" : "health.under", { count, key: keyId }),
  );
  const about = under.length === 0 ? t("health.noSeals") : under.join(", ");
  if (unopenable === 0) return { name, color: "green", label: t("health.readable"), about };
  const fix = t("health.unreadableFix", { keys: missingKeyIds.join(", ") });
  return { name, color: "red", label: t("health.unreadable", { count: unopenable }), about: `${fix} ${about}` };
}

function clocksTile(texts: Texts, { clock: { databaseAheadMs, serviceAheadMs } }: HealthView): Tile {
  const { t } = texts;
  const name = t("health.clocks");
  const aheadMs = Math.max(Math.abs(databaseAheadMs), Math.abs(serviceAheadMs ?? 0));
  const service = serviceAheadMs === null ? t("common.notKnown") : aheadText(texts, serviceAheadMs);
  const about = t("health.compared", { database: aheadText(texts, databaseAheadMs), service });
  if (aheadMs > CLOCK_LIMIT_MS)
    return { name, color: "orange", label: t("health.clocksDiffer"), about: `${t("health.clocksFix")} ${about}` };
  return serviceAheadMs === null
    ? { name, color: "grey", label: t("common.notKnown"), about }
    : { name, color: "green", label: t("health.clocksAgree"), about };
}

function aheadText({ t, number }: Texts, ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 100) / 10;
  if (seconds === 0) return t("health.sameTime");
  return t(ms > 0 ? "health.ahead" : "health.behind", { seconds: number(seconds) });
}

function processesTile({ t, why }: Texts, { processes: { count, locks, connections, warnings } }: HealthView): Tile {
  const name = t("health.processes");
  const label = t("health.running", { count });
  if (warnings.length > 0)
    return { name, color: "red", label, about: t("health.processesFix", { warnings: why(warnings) }) };
  const lock = locks.join(", ") || t("common.notKnown");
  return { name, color: "green", label, about: t("health.lock", { lock, connections }) };
}

export const HealthTiles = ({ tiles }: { tiles: readonly Tile[] }) => (
  <div className="grid grid-cols-1 gap-px sm:grid-cols-2 xl:grid-cols-3">
    {tiles.map((tile) => (
      <HealthTile key={tile.name} {...tile} />
    ))}
  </div>
);

const HealthTile = ({ name, color, label, about, isAwaited = false }: Tile) => (
  <div className={`flex flex-col gap-y-1 px-6 py-4 ${isAwaited ? "col-span-full" : ""}`}>
    <Text size="small" leading="compact" weight="plus" className="text-ui-fg-subtle">
      {name}
    </Text>
    <StatusBadge color={color} className="self-start">
      {label}
    </StatusBadge>
    <Text size="xsmall" leading="compact" className="text-ui-fg-muted break-words">
      {about}
    </Text>
  </div>
);

export const OPEN_WORK_LIMIT = 100;

/** Reads everything that needs a person, and its number; undefined until its lists are read. */
export function useOpenWork() {
  const texts = useTexts();
  const health = useHealth().data;
  const attention = useCharges({ states: ["needs_attention"], limit: OPEN_WORK_LIMIT, offset: 0 }).data;
  const jobs = useJobs().data?.jobs;
  const refunds = useBulkRefunds().data?.bulkRefunds.filter(({ waiting }) => waiting.length > 0);
  if (!attention || !jobs || !refunds) return undefined;
  const waiting = refunds.reduce((sum, one) => sum + one.waiting.length, 0);
  const tiles = health ? healthTiles(texts, health) : [];
  const [problems, cancelStop] = [problemsOf(tiles), health?.cancelStop ?? null];
  return {
    ...{ attention, jobs, refunds, problems, cancelStop },
    /** Whether the shop waits for the service. */
    isAwaiting: tiles.some(({ isAwaited }) => isAwaited),
    count: problems.length + (cancelStop ? 1 : 0) + attention.count + jobs.length + waiting,
  };
}
