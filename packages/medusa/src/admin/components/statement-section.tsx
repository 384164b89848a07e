import { Table } from "@medusajs/ui";
import { useState } from "react";
import { type StatementView, useStatement } from "../client/queries.js";
import { readPercent, reportDay } from "../i18n/formats.js";
import { useTexts } from "../i18n/use-texts.js";
import { FieldError, InputField, Nothing, OrderLink, Rows, Section, SmallButton, Strong } from "./section.js";

export function StatementSection() {
  const { t } = useTexts();
  const [month, setMonth] = useState(reportDay().slice(0, 7));
  const [commission, setCommission] = useState("");
  const percent = readPercent(commission);
  const isValid = percent !== undefined;
  const { data, error } = useStatement(month, percent ?? "");
  return (
    <Section
      title={t("statement.title")}
      about={t("statement.about")}
      actions={
        <SmallButton disabled={!data || !isValid} onClick={() => data && download(`gift-cards-${month}.csv`, data.csv)}>
          {t("common.downloadCsv")}
        </SmallButton>
      }
    >
      <div className="flex flex-wrap items-end gap-4 px-6 py-4">
        <InputField
          label={t("common.month")}
          id="giftcard-month"
          type="month"
          value={month}
          onChange={({ target }) => target.value && setMonth(target.value)}
        />
        <InputField
          label={t("statement.commission")}
          id="giftcard-commission"
          inputMode="decimal"
          autoComplete="off"
          maxLength={20}
          placeholder="0"
          value={commission}
          aria-invalid={!isValid}
          aria-describedby="giftcard-commission-error"
          onChange={(event) => setCommission(event.target.value)}
        />
        <FieldError id="giftcard-commission-error">{isValid ? null : t("statement.commissionError")}</FieldError>
      </div>
      {error && <Nothing>{error.message}</Nothing>}
      {!error && data && isValid && <Lines statement={data.statement} />}
    </Section>
  );
}

function Lines({ statement }: { statement: StatementView }) {
  const { t, day, number } = useTexts();
  const { lines, orderNames, chargedCents, canceledCents, refundedCents, grossCents } = statement;
  const { commissionPercent, commissionCents, netCents } = statement;
  if (lines.length === 0) return <Nothing>{t("statement.none")}</Nothing>;
  const amounts = (["charged", "canceled", "refunded", "difference"] as const).map((name) => t(`statement.${name}`));
  return (
    <Rows columns={[t("statement.day"), t("common.order"), ...amounts]} amounts={amounts}>
      {lines.map((line) => (
        <Table.Row key={`${line.day} ${line.orderId}`}>
          <Table.Cell className="text-nowrap">{day(line.day)}</Table.Cell>
          <Table.Cell>
            <OrderLink
              orderId={line.orderId}
              orderName={orderNames[line.orderId ?? ""]}
              none={t("statement.noOrder")}
            />
          </Table.Cell>
          <Amounts of={[line.chargedCents, line.canceledCents, line.refundedCents, line.grossCents]} />
        </Table.Row>
      ))}
      <Sum name={t("statement.total")} of={[chargedCents, canceledCents, refundedCents, grossCents]} />
      <Sum
        name={t("statement.commissionOf", { percent: number(commissionPercent) })}
        of={[null, null, null, -commissionCents]}
      />
      <Sum name={t("statement.net")} of={[null, null, null, netCents]} />
    </Rows>
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
  const { money } = useTexts();
  return of.map((cents, column) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: columns don't move
    <Table.Cell key={column} className="text-right">
      {cents === null ? "" : money(cents)}
    </Table.Cell>
  ));
}

/** Saves a CSV file in the browser. */
function download(name: string, csv: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
