import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Button, Container, Heading, Label, Select, StatusBadge, Table, Text } from "@medusajs/ui";
import type { ComponentProps, ReactNode } from "react";
import { Link } from "react-router-dom";
import { stateTexts } from "./texts.js";

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

/** A link to an order's page, or a text if there is no order. */
export function OrderLink(props: { orderId: string | null; orderName: string | null | undefined; none?: string }) {
  const { orderId, orderName, none = "–" } = props;
  if (orderId === null) return <span className="text-ui-fg-muted">{none}</span>;
  return (
    <Link to={`/orders/${orderId}`} className="text-ui-fg-interactive" onClick={(event) => event.stopPropagation()}>
      {orderName ?? "Order"}
    </Link>
  );
}

export const SmallButton = (props: ComponentProps<typeof Button>) => (
  <Button size="small" variant="secondary" {...props} />
);

/** The head of a table. Amounts are aligned to the right. */
export function TableHead({ columns, amounts = [] }: { columns: readonly string[]; amounts?: readonly string[] }) {
  return (
    <Table.Header>
      <Table.Row>
        {columns.map((name) => (
          <Table.HeaderCell key={name} className={amounts.includes(name) ? "text-right" : ""}>
            {name}
          </Table.HeaderCell>
        ))}
      </Table.Row>
    </Table.Header>
  );
}

export function Field(props: { label: string; id?: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-y-1">
      <Label size="xsmall" weight="plus" htmlFor={props.id} className="text-ui-fg-subtle">
        {props.label}
      </Label>
      {props.children}
    </div>
  );
}

export function Choice(props: {
  label: string;
  value: string | undefined;
  options: readonly { id: string; title: string }[];
  onChoose: (id: string) => void;
}) {
  const { label, value, options, onChoose } = props;
  return (
    <Select size="small" {...(value !== undefined && { value })} onValueChange={onChoose}>
      <Select.Trigger aria-label={label} className="w-[220px]">
        <Select.Value placeholder="Choose one" />
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
  const { color, label } = stateTexts[state];
  return (
    <StatusBadge color={color} className="text-nowrap">
      {label}
    </StatusBadge>
  );
}
