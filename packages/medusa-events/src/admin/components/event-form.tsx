import { Button, Drawer, Text } from "@medusajs/ui";
import { useState } from "react";
import { type DetailsInput, type ProductEvents, useIssuer, useSaveShow } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { Choice, EventDates, Field, Part } from "./event-dates.js";

type Change = (change: Partial<DetailsInput>) => void;

/** The form with the details of a product's show. */
export function EventForm(props: { productId: string; product: ProductEvents; onClose: () => void }) {
  const { t } = useTexts();
  const { productId, product, onClose } = props;
  const [details, setDetails] = useState<DetailsInput>(() => detailsOf(product));
  // Keep the version that was loaded: of two people who edit the show at once, the second gets an error.
  const [version] = useState(product.show?.version ?? 0);
  const { mutateAsync, isPending } = useSaveShow(productId);
  const change: Change = (some) => setDetails((before) => ({ ...before, ...some }));
  const save = async () => {
    if (await mutateAsync({ version, details: filled(details) }).catch(() => null)) onClose();
  };
  return (
    <Drawer open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Drawer.Content>
        <Drawer.Header>
          <Drawer.Title>{t("product.title")}</Drawer.Title>
          <Drawer.Description>{t("form.description")}</Drawer.Description>
        </Drawer.Header>
        <Drawer.Body className="flex flex-col gap-y-6 overflow-y-auto">
          <EventDates
            dates={details.dates}
            optionValues={product.optionValues}
            onChange={(dates) => change({ dates })}
          />
          <Where details={details} change={change} zone={product.defaults.timeZone} />
          <Who details={details} change={change} organiser={product.defaults.organiser} />
          <IssuerFields details={details} change={change} defaultId={product.defaults.providerId} />
        </Drawer.Body>
        <Drawer.Footer>
          <Button size="small" variant="secondary" onClick={onClose}>
            {t("form.cancel")}
          </Button>
          <Button size="small" isLoading={isPending} onClick={() => void save()}>
            {t("form.save")}
          </Button>
        </Drawer.Footer>
      </Drawer.Content>
    </Drawer>
  );
}

function Where({ details, change, zone }: { details: DetailsInput; change: Change; zone: string }) {
  const { t } = useTexts();
  const { venue = {} } = details;
  const field = (name: keyof typeof venue, label = t(`fields.venue_${name}`)) => (
    <Field
      label={label}
      value={venue[name] ?? ""}
      onChange={({ target }) => change({ venue: { ...venue, [name]: target.value } })}
    />
  );
  return (
    <Part title={t("form.where")}>
      {field("name")}
      <div className="grid grid-cols-[3fr_1fr] gap-3">
        {field("streetName")}
        {field("streetNumber", t("form.houseNumber"))}
      </div>
      <div className="grid grid-cols-[1fr_2fr_2fr] gap-3">
        {field("zipCode")}
        {field("city")}
        {field("country")}
      </div>
      <Field
        label={t("form.zone")}
        value={details.timeZone ?? ""}
        placeholder={zone}
        onChange={({ target }) => change({ timeZone: target.value })}
      />
    </Part>
  );
}

function Who({ details, change, organiser }: { details: DetailsInput; change: Change; organiser: string }) {
  const { t } = useTexts();
  const field = (name: "organiser" | "videoUrl" | "eventLink", placeholder: string) => (
    <Field
      label={t(`fields.${name}`)}
      value={details[name] ?? ""}
      placeholder={placeholder}
      onChange={({ target }) => change({ [name]: target.value })}
    />
  );
  return (
    <Part title={t("form.who")}>
      {field("organiser", organiser)}
      <Words label={t("fields.lineup")} words={details.lineup} onChange={(lineup) => change({ lineup })} />
      <Words label={t("fields.genres")} words={details.genres} onChange={(genres) => change({ genres })} />
      <Field
        label={t("fields.minimumAgeYears")}
        type="number"
        min={0}
        max={99}
        value={details.minimumAgeYears ?? ""}
        onChange={({ target }) => change({ minimumAgeYears: target.value === "" ? undefined : Number(target.value) })}
      />
      {field("eventLink", "https://")}
      {field("videoUrl", "https://")}
    </Part>
  );
}

/** A list of words, separated by commas. */
function Words(props: { label: string; words: readonly string[] | undefined; onChange: (words: string[]) => void }) {
  const { label, words = [], onChange } = props;
  const [text, setText] = useState(words.join(", "));
  return (
    <Field
      label={label}
      value={text}
      placeholder="…, …"
      onChange={({ target }) => {
        setText(target.value);
        onChange(target.value.split(",").flatMap((word) => word.trim() || []));
      }}
    />
  );
}

/** Returns the saved details; for a new show, one date per value of the date option. */
function detailsOf({ show, optionValues }: ProductEvents): DetailsInput {
  if (show) return structuredClone(show.details) as unknown as DetailsInput;
  const dates = optionValues.map((optionValue) => ({ optionValue, start: startOf(optionValue) }));
  return { dates: dates.length > 0 ? dates : [{ start: "" }] };
}

/** Reads a start from an option value such as `2036-04-12 21:00`. */
const startOf = (optionValue: string): string => {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?/.exec(optionValue) ?? [];
  return day && clock ? `${day}T${clock}:00` : "";
};

/** Removes empty values, so that the defaults of the options apply. */
function filled(details: DetailsInput): DetailsInput {
  const { dates, venue = {}, ...others } = details;
  const isFilled = ([, value]: [string, unknown]) => value !== "" && value !== undefined;
  return {
    ...Object.fromEntries(Object.entries(others).filter(isFilled)),
    venue: Object.fromEntries(Object.entries(venue).filter(isFilled)),
    dates: dates.map((date) => Object.fromEntries(Object.entries(date).filter(isFilled))) as never,
  };
}

const NONE = "none";

/** The ticketing provider, chosen from the issuer's list. */
function IssuerFields(props: { details: DetailsInput; change: Change; defaultId: number | null }) {
  const { t } = useTexts();
  const { data, error } = useIssuer();
  const { change, defaultId } = props;
  const { providerId } = props.details;
  const { providers = [] } = data ?? {};
  const numbered = (id: number) => t("issuer.numbered", { id: String(id) });
  const nameOf = (id: number) => providers.find((one) => one.id === id)?.name ?? numbered(id);
  const isListed = providerId === undefined || providers.some(({ id }) => id === providerId);
  const none = defaultId === null ? t("issuer.noneChosen") : t("issuer.default", { name: nameOf(defaultId) });
  return (
    <Part title={t("issuer.title")}>
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
    </Part>
  );
}

const Problem = ({ children }: { children: string }) => (
  <Text size="xsmall" className="text-ui-fg-error">
    {children}
  </Text>
);
