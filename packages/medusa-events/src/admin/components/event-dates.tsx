import { Button, Heading, Input, Label, Select, Text } from "@medusajs/ui";
import { type ComponentProps, type ReactNode, useId } from "react";
import type { DetailsInput } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";

type Dates = DetailsInput["dates"];
type ShowDate = Dates[number];

/** A browser's field has a time without seconds. */
const toInput = (local: string | undefined) => (local ?? "").slice(0, 16);
const fromInput = (value: string) => (value === "" ? "" : `${value.slice(0, 16)}:00`);

/** Returns whether a time was before today, by the browser's clock. */
const isOver = (start: string) => start !== "" && start.slice(0, 10) < new Date().toLocaleDateString("sv-SE");

/** The select's value for a date without an option value. */
const ALL = "all";

/** The dates of a show. Each is an event of its own. */
export function EventDates(props: { dates: Dates; optionValues: readonly string[]; onChange: (dates: Dates) => void }) {
  const { t } = useTexts();
  const { dates, optionValues, onChange } = props;
  const unused = optionValues.find((value) => !dates.some(({ optionValue }) => optionValue === value));
  return (
    <Part title={t("dates.title")}>
      <Text size="xsmall" className="text-ui-fg-subtle">
        {t("dates.about")}
      </Text>
      {dates.map((date, index) => (
        <DateFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a new date has no id yet
          key={index}
          date={date}
          optionValues={optionValues}
          onChange={(some) => onChange(dates.map((one, at) => (at === index ? { ...one, ...some } : one)))}
          onRemove={() => onChange(dates.filter((_, at) => at !== index))}
        />
      ))}
      <Button
        size="small"
        variant="secondary"
        className="self-start"
        onClick={() => onChange([...dates, { start: "", ...(unused && { optionValue: unused }) }])}
      >
        {t("dates.add")}
      </Button>
    </Part>
  );
}

function DateFields(props: {
  date: ShowDate;
  optionValues: readonly string[];
  onChange: (some: Partial<ShowDate>) => void;
  onRemove: () => void;
}) {
  const { t } = useTexts();
  const { date, optionValues, onChange, onRemove } = props;
  const values = [...new Set([...optionValues, ...(date.optionValue ? [date.optionValue] : [])])];
  return (
    <div className="border-ui-border-base flex flex-col gap-y-2 rounded-lg border p-3">
      {optionValues.length > 0 && (
        <Choice
          label={t("dates.variants")}
          value={date.optionValue ?? ALL}
          options={[{ value: ALL, label: t("dates.allVariants") }, ...values.map((value) => ({ value, label: value }))]}
          onChoose={(value) => onChange({ optionValue: value === ALL ? undefined : value })}
        />
      )}
      <div className="grid grid-cols-2 gap-3">
        {(["start", "end"] as const).map((name) => (
          <Field
            key={name}
            label={t(`fields.${name}`)}
            type="datetime-local"
            value={toInput(date[name])}
            onChange={({ target }) => onChange({ [name]: fromInput(target.value) })}
          />
        ))}
      </div>
      {isOver(date.start) && (
        <Text size="xsmall" className="text-ui-fg-error">
          {t("dates.over")}
        </Text>
      )}
      <Button size="small" variant="transparent" className="self-end" onClick={onRemove}>
        {t("dates.remove")}
      </Button>
    </div>
  );
}

/** A part of the form with its heading. */
export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="flex flex-col gap-y-3">
    <Heading level="h3">{title}</Heading>
    {children}
  </div>
);

/** An input with a label. */
export function Field({ label, ...input }: { label: string } & ComponentProps<typeof Input>) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-y-1">
      <Label size="xsmall" htmlFor={id}>
        {label}
      </Label>
      <Input id={id} size="small" {...input} />
    </div>
  );
}

/** A select with a label. */
export function Choice(props: {
  label: string;
  value: string;
  options: readonly { readonly value: string; readonly label: string }[];
  onChoose: (value: string) => void;
}) {
  const { t } = useTexts();
  const { label, value, options, onChoose } = props;
  return (
    <div className="flex min-w-0 flex-col gap-y-1">
      <Label size="xsmall">{label}</Label>
      <Select size="small" value={value} onValueChange={onChoose}>
        <Select.Trigger aria-label={label}>
          <Select.Value placeholder={t("form.chooseOne")} />
        </Select.Trigger>
        <Select.Content>
          {options.map((one) => (
            <Select.Item key={one.value} value={one.value}>
              {one.label}
            </Select.Item>
          ))}
        </Select.Content>
      </Select>
    </div>
  );
}
