import { Table, Text } from "@medusajs/ui";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { AttemptRow } from "../client/queries.js";
import { StateBadge } from "./state-badge.js";
import { cardName, money, reasonText, time } from "./texts.js";

/** Charges, a row each; a click shows everything about one. */
export function AttemptTable(props: {
  attempts: readonly AttemptRow[];
  onOpen: (reference: string) => void;
  action?: (attempt: AttemptRow) => ReactNode;
}) {
  const { attempts, onOpen, action } = props;
  return (
    <div className="overflow-x-auto">
      <Table>
        <Table.Header>
          <Table.Row>
            <Table.HeaderCell>Card</Table.HeaderCell>
            <Table.HeaderCell className="text-right">Amount</Table.HeaderCell>
            <Table.HeaderCell>State</Table.HeaderCell>
            <Table.HeaderCell>Why</Table.HeaderCell>
            <Table.HeaderCell>Order</Table.HeaderCell>
            <Table.HeaderCell>Since</Table.HeaderCell>
            {action && <Table.HeaderCell />}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {attempts.map((attempt) => (
            <Table.Row
              key={attempt.reference}
              className="cursor-pointer"
              onClick={() => onOpen(attempt.reference)}
            >
              <Table.Cell className="text-nowrap">
                <button type="button" className="txt-compact-small-plus">
                  {cardName(attempt.lastFour)}
                </button>
              </Table.Cell>
              <Table.Cell className="text-right">
                {money(attempt.deductedCents ?? attempt.amountCents)}
              </Table.Cell>
              <Table.Cell>
                <StateBadge state={attempt.state} />
              </Table.Cell>
              <Table.Cell className="max-w-[280px]">
                <Text size="small" leading="compact" className="truncate" title={reasonText(attempt.reason)}>
                  {reasonText(attempt.reason)}
                </Text>
              </Table.Cell>
              <Table.Cell>
                <OrderLink attempt={attempt} />
              </Table.Cell>
              <Table.Cell className="text-nowrap">{time(attempt.createdAt)}</Table.Cell>
              {action && (
                <Table.Cell className="text-right" onClick={(event) => event.stopPropagation()}>
                  {action(attempt)}
                </Table.Cell>
              )}
            </Table.Row>
          ))}
        </Table.Body>
      </Table>
    </div>
  );
}

function OrderLink({ attempt: { orderId, orderName } }: { attempt: AttemptRow }) {
  if (orderId === null) return <span className="text-ui-fg-muted">–</span>;
  return (
    <Link
      to={`/orders/${orderId}`}
      className="text-ui-fg-interactive"
      onClick={(event) => event.stopPropagation()}
    >
      {orderName ?? "Order"}
    </Link>
  );
}
