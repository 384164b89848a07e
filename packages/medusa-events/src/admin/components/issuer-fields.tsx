import { Button, Heading, Text } from "@medusajs/ui";
import { useState } from "react";
import { type DetailsInput, useCreateConcept, useIssuer } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { Choice, Field } from "./event-fields.js";

const NONE = "none";

interface IssuerFieldsProps {
  readonly details: DetailsInput;
  readonly change: (some: Partial<DetailsInput>) => void;
  readonly defaultId: number | null;
}

/** The ticketing provider and the event concept, chosen from the issuer's lists. */
export function IssuerFields({ details, change, defaultId }: IssuerFieldsProps) {
  const { t } = useTexts();
  const { data, error } = useIssuer();
  const [isNew, setNew] = useState(false);
  const { providers = [], concepts = [] } = data ?? {};
  return (
    <div className="flex flex-col gap-y-3">
      <Heading level="h3">{t("provider.title")}</Heading>
      {error && (
        <Text size="xsmall" className="text-ui-fg-error">
          {t("provider.unread", { error: error.message })}
        </Text>
      )}
      {data && providers.length === 0 && (
        <Text size="xsmall" className="text-ui-fg-error">
          {t("provider.noTicketing")}
        </Text>
      )}
      <ProviderChoice {...{ details, change, defaultId, providers }} />
      <ConceptChoice {...{ details, change, concepts }} />
      <Text size="xsmall" className="text-ui-fg-subtle">
        {t("provider.conceptNote")}
      </Text>
      {isNew ? (
        <NewConcept
          providerId={details.providerId ?? defaultId}
          onCreated={(created) => {
            setNew(false);
            change({ concept: { id: created.id, name: created.register }, providerId: created.providerId });
          }}
        />
      ) : (
        <Button size="small" variant="secondary" className="self-start" onClick={() => setNew(true)}>
          {t("provider.newConcept")}
        </Button>
      )}
    </div>
  );
}

type Lists = NonNullable<ReturnType<typeof useIssuer>["data"]>;

function ProviderChoice(props: IssuerFieldsProps & Pick<Lists, "providers">) {
  const { t } = useTexts();
  const { details, change, defaultId, providers } = props;
  const { providerId } = details;
  const nameOf = (id: number) =>
    providers.find((one) => one.id === id)?.name ?? t("provider.numbered", { id: String(id) });
  const isListed = providerId === undefined || providers.some(({ id }) => id === providerId);
  return (
    <Choice
      label={t("provider.ticketing")}
      value={String(providerId ?? NONE)}
      options={[
        {
          value: NONE,
          label: defaultId === null ? t("provider.noneChosen") : t("provider.default", { name: nameOf(defaultId) }),
        },
        ...(isListed ? [] : [{ value: String(providerId), label: t("provider.numbered", { id: String(providerId) }) }]),
        ...providers.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      onChoose={(value) => change({ providerId: value === NONE ? undefined : Number(value) })}
    />
  );
}

function ConceptChoice(props: Omit<IssuerFieldsProps, "defaultId"> & Pick<Lists, "concepts">) {
  const { t } = useTexts();
  const { details, change, concepts } = props;
  const { concept } = details;
  return (
    <Choice
      label={t("provider.concept")}
      value={String(concept?.id ?? NONE)}
      options={[
        { value: NONE, label: t("provider.none") },
        ...(concept && !concepts.some(({ id }) => id === concept.id)
          ? [{ value: String(concept.id), label: concept.name }]
          : []),
        ...concepts.map(({ id, register, representative }) => ({
          value: String(id),
          label: `${register} (${representative})`,
        })),
      ]}
      onChoose={(value) => {
        const chosen = concepts.find(({ id }) => String(id) === value);
        change(
          chosen
            ? { concept: { id: chosen.id, name: chosen.register }, providerId: chosen.providerId }
            : { concept: undefined },
        );
      }}
    />
  );
}

function NewConcept(props: {
  providerId: number | null;
  onCreated: (created: { id: number; register: string; providerId: number }) => void;
}) {
  const { t } = useTexts();
  const { providerId, onCreated } = props;
  const [register, setRegister] = useState("");
  const [representative, setRepresentative] = useState("");
  const { mutateAsync, isPending } = useCreateConcept();
  const create = async () => {
    if (providerId === null) return;
    const created = await mutateAsync({ register, representative, providerId }).catch(() => null);
    if (created) onCreated(created.concept);
  };
  const isReady = providerId !== null && register.trim() !== "" && representative.trim() !== "";
  return (
    <div className="border-ui-border-base flex flex-col gap-y-2 rounded-lg border p-3">
      <Field
        label={t("provider.conceptName")}
        maxLength={150}
        value={register}
        onChange={({ target }) => setRegister(target.value)}
      />
      <Field
        label={t("provider.representative")}
        maxLength={150}
        value={representative}
        onChange={({ target }) => setRepresentative(target.value)}
      />
      <Button
        size="small"
        variant="secondary"
        className="self-end"
        disabled={!isReady}
        isLoading={isPending}
        onClick={() => void create()}
      >
        {providerId === null ? t("provider.chooseFirst") : t("provider.create")}
      </Button>
    </div>
  );
}
