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
  const { t, day, number, money } = useTexts();
  const { lines, orderNames, chargedCents, canceledCents, refundedCents, grossCents } = statement;
  const { commissionPercent, commissionCents, netCents } = statement;
  if (lines.length === 0) return <Nothing>{t("statement.none")}</Nothing>;
  const names = (["charged", "canceled", "refunded", "difference"] as const).map((name) => t(`statement.${name}`));
  const cells = (of: readonly (number | null)[]) => of.map((cents) => money(cents, ""));
  const sum = (name: string, of: readonly (number | null)[]) => ({
    key: name,
    className: "bg-ui-bg-subtle",
    cells: [<Strong key="name">{name}</Strong>, "", ...cells(of)],
  });
  const rows = lines.map((line) => ({
    key: `${line.day} ${line.orderId}`,
    cells: [
      day(line.day),
      <OrderLink key="order" {...line} orderName={orderNames[line.orderId ?? ""]} none={t("statement.noOrder")} />,
      ...cells([line.chargedCents, line.canceledCents, line.refundedCents, line.grossCents]),
    ],
  }));
  const sums = [
    sum(t("statement.total"), [chargedCents, canceledCents, refundedCents, grossCents]),
    sum(t("statement.commissionOf", { percent: number(commissionPercent) }), [null, null, null, -commissionCents]),
    sum(t("statement.net"), [null, null, null, netCents]),
  ];
  return (
    <Rows
      columns={[t("statement.day"), t("common.order"), ...names]}
      amounts={[2, 3, 4, 5]}
      rows={[...rows, ...sums]}
    />
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
