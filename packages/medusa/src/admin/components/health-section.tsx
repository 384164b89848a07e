import { Badge, StatusBadge } from "@medusajs/ui";
import { useHealth } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { outageText } from "./problems.js";
import { Nothing, Section, Small } from "./section.js";

/** The page's heading. A fault that the shop waits for is explained below it. */
export function HealthSection() {
  const texts = useTexts();
  const { t } = texts;
  const { data, error } = useHealth();
  const outage = data ? outageText(texts, data) : null;
  return (
    <Section level="h1" title={t("page.title")} actions={data && <SandboxBadge environment={data.environment} />}>
      {error && <Nothing>{t("page.noResponse", { error: error.message })}</Nothing>}
      {outage && (
        <div className="flex flex-col gap-y-1 px-6 py-4">
          <StatusBadge color="red" className="self-start">
            {t("health.noConnection")}
          </StatusBadge>
          <Small>{outage}</Small>
        </div>
      )}
    </Section>
  );
}

/** Marks a shop whose cards and amounts are for testing. */
export function SandboxBadge({ environment }: { environment: string }) {
  const { t } = useTexts();
  if (environment !== "sandbox") return null;
  return (
    <Badge size="2xsmall" color="orange">
      {t("page.sandbox")}
    </Badge>
  );
}
