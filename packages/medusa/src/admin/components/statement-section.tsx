import { Input, Table } from "@medusajs/ui";
import { useState } from "react";
import { type StatementView, useStatement } from "../client/queries.js";
import { reportDay } from "../client/today.js";
import { Field, Nothing, OrderLink, Section, SmallButton, Strong, TableHead } from "./section.js";
import { money } from "./texts.js";

export function StatementSection() {
  const [month, setMonth] = useState(reportDay().slice(0, 7));
  const [commission, setCommission] = useState("");
  const { data, error } = useStatement(month, commission);
  return (
    <Section
      title="Monthly statement"
      about="Charges and cancellations by day and order, to compare with the issuer's invoice."
      actions={
        <SmallButton disabled={!data} onClick={() => data && download(`gift-cards-${month}.csv`, data.csv)}>
          Download CSV
        </SmallButton>
      }
    >
      <div className="flex flex-wrap items-end gap-4 px-6 py-4">
        <Field label="Month" id="giftcard-month">
          <Input
            id="giftcard-month"
            size="small"
            type="month"
            value={month}
            onChange={(event) => event.target.value && setMonth(event.target.value)}
          />
        </Field>
        <Field label="Commission, percent" id="giftcard-commission">
          <Input
            id="giftcard-commission"
            size="small"
            type="number"
            min="0"
            max="100"
            step="any"
            placeholder="0"
            value={commission}
            onChange={(event) => setCommission(event.target.value)}
          />
        </Field>
      </div>
      {error && <Nothing>{error.message}</Nothing>}
      {!error && data && <Lines statement={data.statement} />}
    </Section>
  );
}

function Lines({ statement }: { statement: StatementView }) {
  const { lines, orderNames, devaluedCents, canceledCents, grossCents } = statement;
  const { commissionPercent, commissionCents, netCents } = statement;
  if (lines.length === 0) return <Nothing>Nothing was charged or canceled in this month.</Nothing>;
  return (
    <div className="overflow-x-auto">
      <Table>
        <TableHead
          columns={["Day", "Order", "Charged", "Canceled", "Gross"]}
          amounts={["Charged", "Canceled", "Gross"]}
        />
        <Table.Body>
          {lines.map((line) => (
            <Table.Row key={`${line.day} ${line.orderId}`}>
              <Table.Cell className="text-nowrap">{line.day}</Table.Cell>
              <Table.Cell>
                <OrderLink orderId={line.orderId} orderName={orderNames[line.orderId ?? ""]} none="No order" />
              </Table.Cell>
              <Amounts of={[line.devaluedCents, line.canceledCents, line.grossCents]} />
            </Table.Row>
          ))}
          <Sum name="Total" of={[devaluedCents, canceledCents, grossCents]} />
          <Sum name={`Commission ${commissionPercent}%`} of={[null, null, -commissionCents]} />
          <Sum name="Net" of={[null, null, netCents]} />
        </Table.Body>
      </Table>
    </div>
  );
}

function Sum({ name, of }: { name: string; of: readonly (number | null)[] }) {
  return (
    <Table.Row className="bg-ui-bg-subtle">
      <Table.Cell className="text-nowrap">
        <Strong>{name}</Strong>
      </Table.Cell>
      <Table.Cell />
      <Amounts of={of} />
    </Table.Row>
  );
}

function Amounts({ of }: { of: readonly (number | null)[] }) {
  return of.map((cents, column) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: columns don't move
    <Table.Cell key={column} className="text-right">
      {cents === null ? "" : money(cents)}
    </Table.Cell>
  ));
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
