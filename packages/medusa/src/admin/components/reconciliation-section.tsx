import type { Difference } from "@giftcard-pay/checkout";
import { Badge, Button, Input, StatusBadge, Table, Text } from "@medusajs/ui";
import { type FormEvent, useState } from "react";
import { type ReconciliationView, useReconciliation } from "../client/queries.js";
import { reportDay } from "../client/today.js";
import { Field, Nothing, OrderLink, Section, TableHead } from "./section.js";
import { cardName, differenceTexts, money } from "./texts.js";

/** Compares the journal with Medusa's payments and, if the issuer shares it, the service's report. */
export function ReconciliationSection() {
  const { mutate, data, isPending } = useReconciliation();
  const today = reportDay();
  const [from, setFrom] = useState(`${today.slice(0, 7)}-01`);
  const [to, setTo] = useState(today);
  const [report, setReport] = useState<File>();
  async function compare(event: FormEvent): Promise<void> {
    event.preventDefault();
    mutate({ from, to, ...(report && { report: await report.text() }) });
  }
  return (
    <Section
      title="Reconciliation"
      about="Compares the shop's journal with Medusa's payments and, if you have it, the service's report for the same days."
    >
      <form className="flex flex-wrap items-end gap-4 px-6 py-4" onSubmit={(event) => void compare(event)}>
        <Field label="From" id="giftcard-from">
          <Input
            id="giftcard-from"
            size="small"
            type="date"
            required
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        </Field>
        <Field label="To" id="giftcard-to">
          <Input
            id="giftcard-to"
            size="small"
            type="date"
            required
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        </Field>
        <Field label="The service's report (JSON or CSV), optional" id="giftcard-report">
          <input
            id="giftcard-report"
            type="file"
            accept=".json,.csv,application/json,text/csv"
            className="txt-compact-small text-ui-fg-subtle py-1"
            onChange={(event) => setReport(event.target.files?.[0])}
          />
        </Field>
        <Button size="small" type="submit" isLoading={isPending}>
          Compare
        </Button>
      </form>
      {data && <Result result={data.reconciliation} />}
    </Section>
  );
}

function Result({ result }: { result: ReconciliationView }) {
  const { from, to, charges, payments, cards, moving, differences, orderNames } = result;
  const count = differences.length;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-6 py-4">
        <StatusBadge color={count === 0 ? "green" : "red"}>
          {count === 0 ? "No difference" : `${count} ${count === 1 ? "difference" : "differences"}`}
        </StatusBadge>
        <Text size="small" className="text-ui-fg-subtle">
          {from} to {to}: {charges} charges, {payments} payments
          {cards !== null && `, ${cards} cards of the report`}
          {moving > 0 && `; ${moving} in progress, compared next time`}
        </Text>
      </div>
      {count === 0 ? (
        <Nothing>Both sides match to the cent.</Nothing>
      ) : (
        <div className="overflow-x-auto">
          <Table>
            <TableHead columns={["What", "Card", "Order", "The journal says", "The other side says"]} />
            <Table.Body>
              {differences.map((difference) => (
                <Row
                  key={`${difference.kind} ${difference.reference} ${difference.lastFour} ${difference.other.says}`}
                  difference={difference}
                  orderNames={orderNames}
                />
              ))}
            </Table.Body>
          </Table>
        </div>
      )}
    </>
  );
}

function Row(props: { difference: Difference; orderNames: Readonly<Record<string, string>> }) {
  const { kind, lastFour, orderId, journal, other } = props.difference;
  return (
    <Table.Row>
      <Table.Cell>
        <Badge size="2xsmall">{differenceTexts[kind]}</Badge>
      </Table.Cell>
      <Table.Cell className="text-nowrap">{lastFour === null ? "–" : cardName(lastFour)}</Table.Cell>
      <Table.Cell>
        <OrderLink orderId={orderId} orderName={props.orderNames[orderId ?? ""]} />
      </Table.Cell>
      <Table.Cell>
        {money(journal.cents)} <span className="text-ui-fg-muted">{journal.says.replaceAll("_", " ")}</span>
      </Table.Cell>
      <Table.Cell>
        {money(other.cents)}{" "}
        <span className="text-ui-fg-muted">
          {other.who}: {other.says}
        </span>
      </Table.Cell>
    </Table.Row>
  );
}
