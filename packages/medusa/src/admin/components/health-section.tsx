import { Badge, StatusBadge, Text, usePrompt } from "@medusajs/ui";
import { useState } from "react";
import { type HealthView, useHealth, useRecovery, useResumeCancels } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { healthTiles, type Tile, worstColor } from "./health-tiles.js";
import { Nothing, Section, SmallButton } from "./section.js";

/** The page's heading, and the health of its parts in a line. Parts that have a problem are shown below it. */
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
      {data?.cancelStop && <CancelsStopped stop={data.cancelStop} />}
      {error && <Nothing>{t("page.noResponse", { error: error.message })}</Nothing>}
      {data && <HealthLine health={data} />}
    </Section>
  );
}

export function EnvironmentBadge({ environment }: { environment: string }) {
  const { t } = useTexts();
  return environment === "sandbox" ? (
    <Badge size="2xsmall" color="orange">
      {t("page.sandbox")}
    </Badge>
  ) : (
    <Badge size="2xsmall" color="green">
      {t("page.live")}
    </Badge>
  );
}

/** Reports that more orders look unpaid than the shop may cancel without a person. */
function CancelsStopped({ stop: { stoppedAt, waiting } }: { stop: NonNullable<HealthView["cancelStop"]> }) {
  const { t, time } = useTexts();
  const { mutate, isPending } = useResumeCancels();
  const prompt = usePrompt();
  const resume = async () => {
    const isSure = await prompt({
      title: t("cancels.title"),
      description: t("cancels.question", { count: waiting }),
      confirmText: t("cancels.resume"),
      cancelText: t("common.cancel"),
    });
    if (isSure) mutate();
  };
  return (
    <div className="bg-ui-tag-red-bg text-ui-tag-red-text flex items-center justify-between gap-x-4 px-6 py-2">
      <Text size="small">
        {t("cancels.stopped", { since: time(stoppedAt) })} {waiting > 0 && t("cancels.waiting", { count: waiting })}
      </Text>
      <SmallButton isLoading={isPending} onClick={() => void resume()}>
        {t("cancels.resume")}
      </SmallButton>
    </div>
  );
}

const summaries = { red: "health.red", orange: "health.orange", green: "health.green" } as const;

function HealthLine({ health }: { health: HealthView }) {
  const texts = useTexts();
  const { t } = texts;
  const [isOpen, setOpen] = useState(false);
  const tiles = healthTiles(texts, health);
  const color = worstColor(tiles);
  const problems = tiles.filter((tile) => tile.color === "red" || tile.color === "orange");
  const shown = isOpen ? tiles : problems.filter(({ isListed }) => !isListed);
  return (
    <>
      <div className="flex items-center justify-between gap-x-4 px-6 py-3">
        <StatusBadge color={color}>{t(summaries[color], { count: problems.length })}</StatusBadge>
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
        <div className="grid grid-cols-1 gap-px sm:grid-cols-2 xl:grid-cols-3">
          {shown.map((tile) => (
            <HealthTile key={tile.name} {...tile} />
          ))}
        </div>
      </div>
    </>
  );
}

const HealthTile = ({ name, color, label, about }: Tile) => (
  <div className="flex flex-col gap-y-1 px-6 py-4">
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
