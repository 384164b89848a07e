import { useState } from "react";
import { type StatementView, useStatement } from "../client/queries.js";
import { reportDay } from "../i18n/formats.js";
import { useTexts } from "../i18n/use-texts.js";
import { InputField, Nothing, OrderLink, Rows, Section, SmallButton, Strong } from "./section.js";

export function StatementSection() {
  const { t } = useTexts();
  const [month, setMonth] = useState(reportDay().slice(0, 7));
  const { data, error } = useStatement(month);
  return (
    <Section
      title={t("statement.title")}
      about={t("statement.about")}
      actions={
        <SmallButton disabled={!data} onClick={() => data && download(`gift-cards-${month}.csv`, data.csv)}>
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
      </div>
      {error && <Nothing>{error.message}</Nothing>}
      {!error && data && <Lines statement={data.statement} />}
    </Section>
  );
}

function Lines({ statement }: { statement: StatementView }) {
  const { t, day, money } = useTexts();
  const { lines, orderNames, chargedCents, canceledCents, refundedCents, grossCents } = statement;
  if (lines.length === 0) return <Nothing>{t("statement.none")}</Nothing>;
  const names = (["charged", "canceled", "refunded", "difference"] as const).map((name) => t(`statement.${name}`));
  const cells = (of: readonly number[]) => of.map((cents) => money(cents));
  const rows = lines.map((line) => ({
    key: `${line.day} ${line.orderId}`,
    cells: [
      day(line.day),
      <OrderLink key="order" {...line} orderName={orderNames[line.orderId ?? ""]} none={t("statement.noOrder")} />,
      ...cells([line.chargedCents, line.canceledCents, line.refundedCents, line.grossCents]),
    ],
  }));
  const sums = cells([chargedCents, canceledCents, refundedCents, grossCents]);
  const total = {
    key: "total",
    className: "bg-ui-bg-subtle",
    cells: [<Strong key="name">{t("statement.total")}</Strong>, "", ...sums],
  };
  return (
    <Rows columns={[t("statement.day"), t("common.order"), ...names]} amounts={[2, 3, 4, 5]} rows={[...rows, total]} />
  );
}

/** Saves a CSV file in the browser. */
function download(name: string, csv: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
