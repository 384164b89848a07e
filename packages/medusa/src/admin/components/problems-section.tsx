import { Text, usePrompt } from "@medusajs/ui";
import { type HealthView, useResumeCancels } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { HealthTiles } from "./health-tile.js";
import type { Tile } from "./health-tiles.js";
import { Section, SmallButton } from "./section.js";

type CancelStop = NonNullable<HealthView["cancelStop"]>;

/** Lists the parts of the shop's health that a person has to fix. */
export function ProblemsSection({ problems, stop }: { problems: readonly Tile[]; stop: CancelStop | null }) {
  const { t } = useTexts();
  const count = problems.length + (stop ? 1 : 0);
  return (
    <Section title={t("open.problems", { count })} about={t("open.problemsAbout")}>
      {stop && <CancelsStopped stop={stop} />}
      {problems.length > 0 && <HealthTiles tiles={problems} />}
    </Section>
  );
}

/** Reports that more orders look unpaid than the shop may cancel without a person. */
function CancelsStopped({ stop: { stoppedAt, waiting } }: { stop: CancelStop }) {
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
