import { Button, Heading, Text } from "@medusajs/ui";
import { useState } from "react";
import { type DetailsInput, useCreateConcept, useIssuer } from "../client/event-queries.js";
import { Choice, Field } from "./event-fields.js";

const NONE = "none";

/** Provider and concept, from the issuer's lists. */
export function IssuerFields(props: {
  details: DetailsInput;
  change: (some: Partial<DetailsInput>) => void;
  defaultId: number | null;
}) {
  const { details, change, defaultId } = props;
  const { data, error } = useIssuer();
  const [isNew, setNew] = useState(false);
  const { providers = [], concepts = [] } = data ?? {};
  const nameOf = (id: number) => providers.find((one) => one.id === id)?.name ?? `no. ${id}`;
  const { providerId, concept } = details;
  const isListed = providerId === undefined || providers.some(({ id }) => id === providerId);
  return (
    <div className="flex flex-col gap-y-3">
      <Heading level="h3">At the issuer</Heading>
      {error && (
        <Text size="xsmall" className="text-ui-fg-error">
          The issuer's lists can't be read now: {error.message}
        </Text>
      )}
      {data && providers.length === 0 && (
        <Text size="xsmall" className="text-ui-fg-error">
          The issuer has no ticketing provider yet, and an event needs one. Ask the issuer to make one.
        </Text>
      )}
      <Choice
        label="Ticketing provider"
        value={String(providerId ?? NONE)}
        options={[
          {
            value: NONE,
            label: defaultId === null ? "None: choose one" : `The shop's own: ${nameOf(defaultId)}`,
          },
          ...(isListed ? [] : [{ value: String(providerId), label: `no. ${providerId}` }]),
          ...providers.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        onChoose={(value) => change({ providerId: value === NONE ? undefined : Number(value) })}
      />
      <Choice
        label="Event concept"
        value={String(concept?.id ?? NONE)}
        options={[
          { value: NONE, label: "None" },
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
      <Text size="xsmall" className="text-ui-fg-subtle">
        A concept brings its provider. The interface sends no concept with an event: it is kept here.
      </Text>
      {isNew ? (
        <NewConcept
          providerId={providerId ?? defaultId}
          onMade={(made) => {
            setNew(false);
            change({ concept: { id: made.id, name: made.register }, providerId: made.providerId });
          }}
        />
      ) : (
        <Button size="small" variant="secondary" className="self-start" onClick={() => setNew(true)}>
          Make a concept
        </Button>
      )}
    </div>
  );
}

function NewConcept(props: {
  providerId: number | null;
  onMade: (made: { id: number; register: string; providerId: number }) => void;
}) {
  const { providerId, onMade } = props;
  const [register, setRegister] = useState("");
  const [representative, setRepresentative] = useState("");
  const { mutateAsync, isPending } = useCreateConcept();
  const create = async () => {
    if (providerId === null) return;
    const made = await mutateAsync({ register, representative, providerId }).catch(() => null);
    if (made) onMade(made.concept);
  };
  const isReady = providerId !== null && register.trim() !== "" && representative.trim() !== "";
  return (
    <div className="border-ui-border-base flex flex-col gap-y-2 rounded-lg border p-3">
      <Field
        label="Name of the concept"
        maxLength={150}
        value={register}
        onChange={({ target }) => setRegister(target.value)}
      />
      <Field
        label="Who organises it"
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
        {providerId === null ? "Choose a provider first" : "Make it at the issuer"}
      </Button>
    </div>
  );
}
