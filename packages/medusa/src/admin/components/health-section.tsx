import { Badge, StatusBadge, Text } from "@medusajs/ui";
import { useState } from "react";
import { type HealthView, useHealth, useRecovery } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { HealthTiles, healthTiles, useOpenWork } from "./health-tiles.js";
import { Nothing, Section, SmallButton } from "./section.js";

/**
 * The page's heading, and a line with the number of entries in the tab "To do". A fault that the shop waits for is explained
 * below it.
 */
export function HealthSection() {
  const { t } = useTexts();
  const { data, error } = useHealth();
  const { mutate, isPending } = useRecovery();
  return (
    <Section
      level="h1"
      title={t("page.title")}
      actions={
        <>
          {data && <EnvironmentBadge environment={data.environment} />}
          <SmallButton isLoading={isPending} onClick={() => mutate()}>
            {t("page.retryNow")}
          </SmallButton>
        </>
      }
    >
      {data?.environment === "sandbox" && (
        <Text size="small" className="bg-ui-tag-orange-bg text-ui-tag-orange-text px-6 py-2">
          {t("page.sandboxNote")}
        </Text>
      )}
      {error && <Nothing>{t("page.noResponse", { error: error.message })}</Nothing>}
      {data && <HealthLine health={data} />}
    </Section>
  );
}

export function EnvironmentBadge({ environment }: { environment: string }) {
  const { t } = useTexts();
  const isSandbox = environment === "sandbox";
  return (
    <Badge size="2xsmall" color={isSandbox ? "orange" : "green"}>
      {t(isSandbox ? "page.sandbox" : "page.live")}
    </Badge>
  );
}

const summaries = { red: "health.red", orange: "health.orange", green: "health.green" } as const;

function HealthLine({ health }: { health: HealthView }) {
  const texts = useTexts();
  const { t } = texts;
  const [isOpen, setOpen] = useState(false);
  const work = useOpenWork();
  const tiles = healthTiles(texts, health);
  const awaited = tiles.filter(({ isAwaited }) => isAwaited);
  const shown = isOpen ? tiles : awaited;
  const count = work?.count ?? 0;
  const isWarning = work?.problems.length === count && work.problems.every(({ color }) => color === "orange");
  const color = count === 0 ? "green" : isWarning ? "orange" : "red";
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-6 py-3">
        <div className="flex flex-wrap gap-2">
          {awaited.length > 0 && <StatusBadge color="red">{t("health.noConnection")}</StatusBadge>}
          {work && (count > 0 || awaited.length === 0) && (
            <StatusBadge color={color}>{t(summaries[color], { count })}</StatusBadge>
          )}
        </div>
        <SmallButton
          variant="transparent"
          aria-expanded={isOpen}
          aria-controls="giftcard-health"
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t("health.hide") : t("health.show")}
        </SmallButton>
      </div>
      <div id="giftcard-health" hidden={shown.length === 0}>
        {isOpen && (
          <Text size="xsmall" className="text-ui-fg-muted px-6 pt-4">
            {t("health.account", { company: String(health.service.companyId), address: health.service.baseUrl })}
          </Text>
        )}
        <HealthTiles tiles={shown} />
      </div>
    </>
  );
}
