import { Table, Text } from "@medusajs/ui";
import type { ReactNode } from "react";
import type { ChargeRow } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { cardName, reasonText, takenCents } from "./labels.js";
import { OrderLink, Rows, StateBadge } from "./section.js";

/** Lists charges. A click on a row, or on its card, shows everything about its charge. */
export function ChargeTable(props: {
  charges: readonly ChargeRow[];
  onOpen: (reference: string) => void;
  /** Shows the time of the charge. Default: since when it is in its state. */
  isHistory?: boolean;
  action?: (charge: ChargeRow) => ReactNode;
}) {
  const texts = useTexts();
  const { t, money, time } = texts;
  const { charges, onOpen, isHistory = false, action } = props;
  const [amount, when] = [t("charges.amount"), isHistory ? t("charges.when") : t("charges.since")];
  const columns = [t("charges.card"), amount, t("charges.state"), t("charges.why"), t("common.order"), when];
  return (
    <Rows columns={action ? [...columns, ""] : columns} amounts={[amount]}>
      {charges.map((charge) => (
        <Table.Row key={charge.reference} className="cursor-pointer" onClick={() => onOpen(charge.reference)}>
          <Table.Cell className="text-nowrap">
            <button
              type="button"
              className="txt-compact-small-plus"
              aria-label={t("charges.show", { card: cardName(charge.lastFour) })}
            >
              {cardName(charge.lastFour)}
            </button>
          </Table.Cell>
          <Table.Cell className="text-right">{money(takenCents(charge))}</Table.Cell>
          <Table.Cell>
            <StateBadge state={charge.state} />
          </Table.Cell>
          <Table.Cell className="max-w-[280px]">
            <Text size="small" leading="compact" className="truncate" title={reasonText(texts, charge.reason)}>
              {reasonText(texts, charge.reason)}
            </Text>
          </Table.Cell>
          <Table.Cell>
            <OrderLink {...charge} />
          </Table.Cell>
          <Table.Cell className="text-nowrap">{time(isHistory ? charge.createdAt : charge.stateChangedAt)}</Table.Cell>
          {action && (
            <Table.Cell className="text-right" onClick={(event) => event.stopPropagation()}>
              {action(charge)}
            </Table.Cell>
          )}
        </Table.Row>
      ))}
    </Rows>
  );
}
