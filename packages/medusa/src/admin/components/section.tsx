import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Button, Container, Heading, Input, Label, Select, StatusBadge, Table, Text } from "@medusajs/ui";
import type { ComponentProps, ReactNode } from "react";
import { Link } from "react-router-dom";
import { useTexts } from "../i18n/use-texts.js";
import { stateColors, stateText } from "./labels.js";

/** A box of the page with its heading, in the style of Medusa's own. */
export function Section(props: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
  level?: "h1" | "h2";
}) {
  const { title, about, actions, children, level = "h2" } = props;
  return (
    <Container className="divide-y p-0">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-6 py-4">
        <div>
          <Heading level={level}>{title}</Heading>
          {about && (
            <Text size="small" className="text-ui-fg-subtle">
              {about}
            </Text>
          )}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </Container>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="text-ui-fg-subtle grid grid-cols-2 items-start gap-x-4 px-6 py-3">
      <Strong>{name}</Strong>
      <Text as="div" size="small" leading="compact" className="break-words">
        {children}
      </Text>
    </div>
  );
}

export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Text size="small" className="text-ui-fg-muted px-6 py-8 text-center">
      {children}
    </Text>
  );
}

export function Strong({ children }: { children: ReactNode }) {
  return (
    <Text size="small" leading="compact" weight="plus">
      {children}
    </Text>
  );
}

export function Small({ children }: { children: ReactNode }) {
  return (
    <Text size="small" leading="compact" className="text-ui-fg-subtle">
      {children}
    </Text>
  );
}

export function Note({ children }: { children: ReactNode }) {
  return (
    <Text size="xsmall" leading="compact" className="text-ui-fg-subtle">
      {children}
    </Text>
  );
}

/** A name with an amount at the end of its line. */
export function SumLine({ name, cents }: { name: string; cents?: number | undefined }) {
  const { money } = useTexts();
  return (
    <div className="flex items-center justify-between">
      <Strong>{name}</Strong>
      {cents !== undefined && <Strong>{money(cents)}</Strong>}
    </div>
  );
}

/** A link to an order's page, or a text if there is no order. */
export function OrderLink(props: { orderId: string | null; orderName: string | null | undefined; none?: string }) {
  const { t } = useTexts();
  const { orderId, orderName, none = "–" } = props;
  if (orderId === null) return <span className="text-ui-fg-muted">{none}</span>;
  return (
    <Link to={`/orders/${orderId}`} className="text-ui-fg-interactive" onClick={(event) => event.stopPropagation()}>
      {orderName ?? t("common.order")}
    </Link>
  );
}

export const SmallButton = (props: ComponentProps<typeof Button>) => (
  <Button size="small" variant="secondary" {...props} />
);

/** A table of rows, which scrolls in a narrow window. The heads of amounts are aligned to the right. */
export function Rows(props: { columns?: readonly string[]; amounts?: readonly string[]; children: ReactNode }) {
  const { columns = [], amounts = [], children } = props;
  return (
    <div className="overflow-x-auto">
      <Table>
        {columns.length > 0 && (
          <Table.Header>
            <Table.Row>
              {columns.map((name) => (
                <Table.HeaderCell key={name} className={amounts.includes(name) ? "text-right" : ""}>
                  {name}
                </Table.HeaderCell>
              ))}
            </Table.Row>
          </Table.Header>
        )}
        <Table.Body>{children}</Table.Body>
      </Table>
    </div>
  );
}

export function Field(props: { label: string; id?: string; className?: string | undefined; children: ReactNode }) {
  const { label, id, className = "", children } = props;
  return (
    <div className={`flex flex-col gap-y-1 ${className}`}>
      <Label size="xsmall" weight="plus" htmlFor={id} className="text-ui-fg-subtle">
        {label}
      </Label>
      {children}
    </div>
  );
}

export function InputField({
  label,
  className,
  ...input
}: ComponentProps<typeof Input> & { id: string; label: string }) {
  return (
    <Field label={label} id={input.id} className={className}>
      <Input size="small" {...input} />
    </Field>
  );
}

/** The fault of a field, which names it in `aria-describedby`. Empty without a text. */
export const FieldError = ({ id, children }: { id: string; children: string | null }) => (
  <Text id={id} role="alert" size="small" className={`text-ui-fg-error w-full ${children === null ? "hidden" : ""}`}>
    {children}
  </Text>
);

/** A small select. Screen readers read its label. */
export function Choice(props: {
  label: string;
  value: string | undefined;
  options: readonly { id: string; title: string }[];
  onChoose: (id: string) => void;
}) {
  const { t } = useTexts();
  const { label, value, options, onChoose } = props;
  return (
    <Select size="small" {...(value !== undefined && { value })} onValueChange={onChoose}>
      <Select.Trigger aria-label={label} className="w-[220px]">
        <Select.Value placeholder={t("common.chooseOne")} />
      </Select.Trigger>
      <Select.Content>
        {options.map(({ id, title }) => (
          <Select.Item key={id} value={id}>
            {title}
          </Select.Item>
        ))}
      </Select.Content>
    </Select>
  );
}

export function StateBadge({ state }: { state: ChargeState }) {
  const texts = useTexts();
  return (
    <StatusBadge color={stateColors[state]} className="text-nowrap">
      {stateText(texts, state)}
    </StatusBadge>
  );
}
