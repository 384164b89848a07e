import { Button, Heading, Text } from "@medusajs/ui";
import type { DetailsInput } from "../client/event-queries.js";
import { Choice, Field } from "./event-fields.js";

type Dates = DetailsInput["dates"];

/** As a browser's field has a time, without seconds. */
const toInput = (local: string | undefined) => (local ?? "").slice(0, 16);
const fromInput = (value: string) => (value === "" ? "" : `${value.slice(0, 16)}:00`);

/** Whether it was on a day before today, by the browser's clock. */
const isOver = (start: string) => start !== "" && start.slice(0, 10) < new Date().toLocaleDateString("sv-SE");

/** Its value stands for all variants: the product has no option that says the date. */
const ALL = "all";

/** The dates of a show, each an event of its own. */
export function EventDates(props: {
  dates: Dates;
  optionValues: readonly string[];
  onChange: (dates: Dates) => void;
}) {
  const { dates, optionValues, onChange } = props;
  const set = (index: number, some: Partial<Dates[number]>) =>
    onChange(dates.map((date, at) => (at === index ? { ...date, ...some } : date)));
  const unused = optionValues.find((value) => !dates.some(({ optionValue }) => optionValue === value));
  return (
    <div className="flex flex-col gap-y-3">
      <Heading level="h3">When</Heading>
      <Text size="xsmall" className="text-ui-fg-subtle">
        The clock at the venue. Each date is an event of its own.
      </Text>
      {dates.map((date, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a new date has nothing else yet
        <div key={index} className="border-ui-border-base flex flex-col gap-y-2 rounded-lg border p-3">
          {optionValues.length > 0 && (
            <Choice
              label="Variants of this date"
              value={date.optionValue ?? ALL}
              options={[
                { value: ALL, label: "All variants" },
                ...[...new Set([...optionValues, ...(date.optionValue ? [date.optionValue] : [])])].map(
                  (value) => ({ value, label: value }),
                ),
              ]}
              onChoose={(value) => set(index, { optionValue: value === ALL ? undefined : value })}
            />
          )}
          <div className="grid grid-cols-2 gap-3">
            <Field
              label="Start"
              type="datetime-local"
              value={toInput(date.start)}
              onChange={({ target }) => set(index, { start: fromInput(target.value) })}
            />
            <Field
              label="End"
              type="datetime-local"
              value={toInput(date.end)}
              onChange={({ target }) => set(index, { end: fromInput(target.value) })}
            />
          </div>
          {isOver(date.start) && (
            <Text size="xsmall" className="text-ui-fg-error">
              This day is over: what the issuer doesn't have yet isn't sent any more.
            </Text>
          )}
          <Button
            size="small"
            variant="transparent"
            className="self-end"
            onClick={() => onChange(dates.filter((_, at) => at !== index))}
          >
            Take this date out
          </Button>
        </div>
      ))}
      <Button
        size="small"
        variant="secondary"
        className="self-start"
        onClick={() => onChange([...dates, { start: "", ...(unused && { optionValue: unused }) }])}
      >
        Add a date
      </Button>
    </div>
  );
}
