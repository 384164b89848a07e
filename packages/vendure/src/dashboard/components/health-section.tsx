import { useHealth } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";
import { healthParts } from "./health-parts.js";
import { Loading, Note, StateBadge } from "./parts.js";

/** Shows the parts of the shop's health, each with an explanation. */
export function HealthSection() {
  const texts = useTexts();
  const { data, error, refetch } = useHealth();
  const health = data?.giftcardHealth;
  if (!health) return <Loading error={error} onRetry={refetch} />;
  return (
    <div className="flex flex-col gap-4">
      {health.environment === "sandbox" && <Note>{texts.t("page.sandboxNote")}</Note>}
      <dl className="flex flex-col gap-4">
        {healthParts(texts, health).map(({ name, tone, label, about }) => (
          <div key={name} className="flex flex-col gap-1">
            <dt className="text-sm font-medium">{name}</dt>
            <dd className="flex flex-col items-start gap-1">
              <StateBadge tone={tone}>{label}</StateBadge>
              <Note>{about}</Note>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
