import { Table, Text } from "@medusajs/ui";
import type { ReactNode } from "react";
import type { ChargeRow } from "../client/queries.js";
import { OrderLink, StateBadge, TableHead } from "./section.js";
import { cardName, money, reasonText, time } from "./texts.js";

const columns = ["Card", "Amount", "State", "Why", "Order", "Since"];

/** Lists charges. A click on a row shows everything about its charge. */
export function ChargeTable(props: {
  charges: readonly ChargeRow[];
  onOpen: (reference: string) => void;
  action?: (charge: ChargeRow) => ReactNode;
}) {
  const { charges, onOpen, action } = props;
  return (
    <div className="overflow-x-auto">
      <Table>
        <TableHead columns={action ? [...columns, ""] : columns} amounts={["Amount"]} />
        <Table.Body>
          {charges.map((charge) => (
            <Table.Row key={charge.reference} className="cursor-pointer" onClick={() => onOpen(charge.reference)}>
              <Table.Cell className="text-nowrap">
                <button type="button" className="txt-compact-small-plus">
                  {cardName(charge.lastFour)}
                </button>
              </Table.Cell>
              <Table.Cell className="text-right">{money(charge.deductedCents ?? charge.amountCents)}</Table.Cell>
              <Table.Cell>
                <StateBadge state={charge.state} />
              </Table.Cell>
              <Table.Cell className="max-w-[280px]">
                <Text size="small" leading="compact" className="truncate" title={reasonText(charge.reason)}>
                  {reasonText(charge.reason)}
                </Text>
              </Table.Cell>
              <Table.Cell>
                <OrderLink {...charge} />
              </Table.Cell>
              <Table.Cell className="text-nowrap">{time(charge.createdAt)}</Table.Cell>
              {action && (
                <Table.Cell className="text-right" onClick={(event) => event.stopPropagation()}>
                  {action(charge)}
                </Table.Cell>
              )}
            </Table.Row>
          ))}
        </Table.Body>
      </Table>
    </div>
  );
}
