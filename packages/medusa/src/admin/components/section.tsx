import { Button, Container, Heading, Input, Label, Select, Table, Text, usePrompt } from "@medusajs/ui";
import type { ComponentProps, ReactNode } from "react";
import { Link } from "react-router-dom";
import { useTexts } from "../i18n/use-texts.js";

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
          <Heading level={level} tabIndex={-1} className="outline-none">
            {title}
          </Heading>
          {about && <Small>{about}</Small>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </Container>
  );
}

type Words = ComponentProps<typeof Text>;
export const Nothing = (words: Words) => (
  <Text size="small" className="text-ui-fg-muted px-6 py-8 text-center" {...words} />
);
export const Strong = (words: Words) => <Text size="small" leading="compact" weight="plus" {...words} />;
export const Small = (words: Words) => (
  <Text size="small" leading="compact" className="text-ui-fg-subtle break-words" {...words} />
);
export const Note = (words: Words) => (
  <Text size="xsmall" leading="compact" className="text-ui-fg-subtle break-words" {...words} />
);

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
export function OrderLink(props: {
  orderId: string | null;
  orderName: string | null | undefined;
  isOrderCanceled?: boolean;
  none?: string;
}) {
  const { t } = useTexts();
  const { orderId, orderName, isOrderCanceled = false, none = "–" } = props;
  if (orderId === null) return <span className="text-ui-fg-muted">{none}</span>;
  const name = orderName ?? t("common.order");
  return (
    <Link to={`/orders/${orderId}`} className="text-ui-fg-interactive" onClick={(event) => event.stopPropagation()}>
      {isOrderCanceled ? t("common.canceledOrder", { order: name }) : name}
    </Link>
  );
}

export const SmallButton = (props: ComponentProps<typeof Button>) => (
  <Button size="small" variant="secondary" {...props} />
);

/** A button that acts once a person has answered its question, if it has one. */
export function ActionButton(
  props: Omit<ComponentProps<typeof Button>, "onClick" | "children"> & {
    children: string;
    question?: Parameters<ReturnType<typeof usePrompt>>[0] | undefined;
    onAct: () => unknown;
  },
) {
  const { question, onAct, children, ...button } = props;
  const { t } = useTexts();
  const prompt = usePrompt();
  const press = async () => {
    const shown = { confirmText: children, cancelText: t("common.cancel"), variant: "confirmation" } as const;
    if (!question || (await prompt({ ...shown, ...question }))) onAct();
  };
  return (
    <SmallButton {...button} onClick={() => void press()}>
      {children}
    </SmallButton>
  );
}

/** An entry of a list with its buttons, which are below it in a narrow window. */
export const Entry = ({ children, actions }: { children: ReactNode; actions?: ReactNode }) => (
  <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-6 py-4">
    <div className="min-w-0 max-w-full">{children}</div>
    {actions && <div className="flex shrink-0 flex-wrap gap-2">{actions}</div>}
  </div>
);

interface TableRow {
  readonly key: string;
  readonly cells: readonly ReactNode[];
  readonly className?: string;
  readonly onClick?: () => void;
}

/** A table, which scrolls in a narrow window. A row with one cell is a heading. The `amounts` are aligned to the right. */
export function Rows(props: { columns: readonly string[]; amounts: readonly number[]; rows: readonly TableRow[] }) {
  const { columns, amounts, rows } = props;
  const align = (column: number) => (amounts.includes(column) ? "text-right" : "");
  return (
    <div className="overflow-x-auto">
      <Table>
        <Table.Header>
          <Table.Row>
            {columns.map((name, column) => (
              <Table.HeaderCell key={name} className={align(column)}>
                {name}
              </Table.HeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {rows.map(({ key, cells, ...row }) => (
            <Table.Row key={key} {...row}>
              {columns.slice(0, cells.length).map((name, column) => (
                <Table.Cell
                  key={name}
                  className={align(column)}
                  {...(cells.length === 1 && { colSpan: columns.length })}
                >
                  {cells[column]}
                </Table.Cell>
              ))}
            </Table.Row>
          ))}
        </Table.Body>
      </Table>
    </div>
  );
}

function Field(props: { label: string; id?: string; className?: string | undefined; children: ReactNode }) {
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

export function InputField(props: ComponentProps<typeof Input> & { id: string; label: string }) {
  const { label, className, ...input } = props;
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

/** A select with its label. */
export function Choice(props: {
  label: string;
  value: string | undefined;
  options: readonly { id: string; title: string }[];
  onChoose: (id: string) => void;
}) {
  const { t } = useTexts();
  const { label, value, options, onChoose } = props;
  return (
    <Field label={label} className="min-w-0 flex-1 sm:max-w-[220px]">
      <Select size="small" {...(value !== undefined && { value })} onValueChange={onChoose}>
        <Select.Trigger aria-label={label}>
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
    </Field>
  );
}
