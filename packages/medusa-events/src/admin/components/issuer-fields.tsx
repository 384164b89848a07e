import { Heading, Text } from "@medusajs/ui";
import { type DetailsInput, useIssuer } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { Choice } from "./event-fields.js";

const NONE = "none";

/** The ticketing provider, chosen from the issuer's list. */
export function IssuerFields(props: {
  details: DetailsInput;
  change: (some: Partial<DetailsInput>) => void;
  defaultId: number | null;
}) {
  const { t } = useTexts();
  const { data, error } = useIssuer();
  const { details, change, defaultId } = props;
  const { providerId } = details;
  const { providers = [] } = data ?? {};
  const numbered = (id: number) => t("issuer.numbered", { id: String(id) });
  const nameOf = (id: number) => providers.find((one) => one.id === id)?.name ?? numbered(id);
  const isListed = providerId === undefined || providers.some(({ id }) => id === providerId);
  const none = defaultId === null ? t("issuer.noneChosen") : t("issuer.default", { name: nameOf(defaultId) });
  return (
    <div className="flex flex-col gap-y-3">
      <Heading level="h3">{t("issuer.title")}</Heading>
      {error && <Problem>{t("issuer.unread", { error: error.message })}</Problem>}
      {data && providers.length === 0 && <Problem>{t("issuer.noTicketing")}</Problem>}
      <Choice
        label={t("issuer.ticketing")}
        value={String(providerId ?? NONE)}
        options={[
          { value: NONE, label: none },
          ...(isListed ? [] : [{ value: String(providerId), label: numbered(providerId) }]),
          ...providers.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        onChoose={(value) => change({ providerId: value === NONE ? undefined : Number(value) })}
      />
    </div>
  );
}

const Problem = ({ children }: { children: string }) => (
  <Text size="xsmall" className="text-ui-fg-error">
    {children}
  </Text>
);
