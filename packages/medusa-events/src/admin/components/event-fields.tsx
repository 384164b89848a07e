import { Input, Label, Select } from "@medusajs/ui";
import { type ComponentProps, useId } from "react";
import { useTexts } from "../i18n/use-texts.js";

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
