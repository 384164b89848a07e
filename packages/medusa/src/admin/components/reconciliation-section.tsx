import type { Difference } from "@giftcard-pay/checkout/operator";
import type { ReportFault } from "@giftcard-pay/checkout/plugin";
import { Badge, Button, StatusBadge, Text } from "@medusajs/ui";
import { type FormEvent, type ReactNode, useState } from "react";
import { type ReconciliationView, useReconciliation } from "../client/queries.js";
import { reportDay } from "../i18n/formats.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { cardName, stateText } from "./labels.js";
import { FieldError, InputField, Nothing, OrderLink, Rows, Section } from "./section.js";

/** Compares the shop's records with Medusa's payments and, if it is shared, with the card issuer's report. */
export function ReconciliationSection() {
  const texts = useTexts();
  const { t } = texts;
  const { mutate, data, isPending, reset } = useReconciliation();
  const today = reportDay();
  const [days, setDays] = useState({ from: `${today.slice(0, 7)}-01`, to: today });
  const [report, setReport] = useState<File>();
  const fault = data?.reportFault ?? null;
  const choose = (file: File | undefined) => {
    setReport(file);
    reset();
  };
  async function compare(event: FormEvent): Promise<void> {
    event.preventDefault();
    mutate({ ...days, ...(report && { report: await report.text() }) });
  }
  const day = (name: "from" | "to") => (
    <InputField
      label={t(`reconciliation.${name}`)}
      id={`giftcard-${name}`}
      type="date"
      required
      value={days[name]}
      onChange={({ target }) => setDays({ ...days, [name]: target.value })}
    />
  );
  return (
    <Section title={t("reconciliation.title")} about={t("reconciliation.about")}>
      <form className="flex flex-wrap items-end gap-4 px-6 py-4" onSubmit={(event) => void compare(event)}>
        {day("from")}
        {day("to")}
        <InputField
          label={t("reconciliation.report")}
          id="giftcard-report"
          type="file"
          className="[&_::file-selector-button]:border-0 [&_::file-selector-button]:bg-transparent"
          accept=".json,.csv,application/json,text/csv"
          aria-invalid={fault !== null}
          aria-describedby="giftcard-report-error"
          // Otherwise the browser reports no change if the same file is chosen again, after it was corrected.
          onClick={({ currentTarget }) => {
            currentTarget.value = "";
            choose(undefined);
          }}
          onChange={({ target }) => choose(target.files?.[0])}
        />
        <Button size="small" type="submit" isLoading={isPending}>
          {t("reconciliation.compare")}
        </Button>
        <FieldError id="giftcard-report-error">{fault && reportFaultText(texts, fault, report?.name ?? "")}</FieldError>
      </form>
      {data?.reconciliation ? <Result result={data.reconciliation} /> : <Nothing>{t("reconciliation.hint")}</Nothing>}
    </Section>
  );
}

function Result({ result }: { result: ReconciliationView }) {
  const texts = useTexts();
  const { t, day } = texts;
  const { from, to, charges, payments, cards, moving, differences, orderNames } = result;
  const count = differences.length;
  const compared = [
    t("reconciliation.charges", { count: charges }),
    t("reconciliation.payments", { count: payments }),
    ...(cards === null ? [] : [t("reconciliation.cards", { count: cards })]),
    ...(moving > 0 ? [t("reconciliation.moving", { count: moving })] : []),
  ];
  const columns = (["what", "card", "order", "records", "other"] as const).map((name) => t(`reconciliation.${name}`));
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-6 py-4">
        <StatusBadge color={count === 0 ? "green" : "red"}>
          {count === 0 ? t("reconciliation.none") : t("reconciliation.differences", { count })}
        </StatusBadge>
        <Text size="small" className="text-ui-fg-subtle">
          {day(from)} – {day(to)}: {compared.join(", ")}
        </Text>
      </div>
      {count === 0 ? (
        <Nothing>{t("reconciliation.match")}</Nothing>
      ) : (
        <Rows
          columns={columns}
          amounts={[]}
          rows={differences.map((difference) => ({
            key: `${difference.kind} ${difference.reference} ${difference.lastFour} ${difference.other.says}`,
            cells: cellsOf(texts, difference, orderNames),
          }))}
        />
      )}
    </>
  );
}

/** Explains why a report can't be compared. */
function reportFaultText({ t, day }: Texts, fault: ReportFault, file: string): string {
  if (fault.code !== "other_days") return t(`reconciliation.faults.${fault.code}`, { file });
  const [from, to] = [dayOr(day, fault.from), dayOr(day, fault.to)];
  return t("reconciliation.faults.other_days", { file, from, to });
}

/** The report's days are any text. */
const dayOr = (day: Texts["day"], text: string): string => (/^\d{4}-\d\d-\d\d$/.test(text) ? day(text) : text);

type Side = Partial<Difference["journal"] & Pick<Difference["other"], "payments">>;

/** Says in words what a side has: the sums of a card, or the states of charges or payments. */
function sideText(texts: Texts, { sums, states = [], payments = [] }: Side): string {
  const { t, money } = texts;
  if (sums) return t("reconciliation.sums", { charged: money(sums.chargedCents), canceled: money(sums.canceledCents) });
  const words = [
    ...states.map((state) => stateText(texts, state)),
    ...payments.map(({ name, state }) => `${name} ${t(`reconciliation.paymentStates.${state}`)}`),
  ];
  return words.length === 0 ? t("reconciliation.nothing") : words.join(", ");
}

function cellsOf(texts: Texts, difference: Difference, orderNames: Readonly<Record<string, string>>): ReactNode[] {
  const { t, money } = texts;
  const { kind, lastFour, orderId, journal, other } = difference;
  const side = t(`reconciliation.side.${other.who}`);
  return [
    <Badge key="kind" size="2xsmall">
      {t(`differences.${kind}`)}
    </Badge>,
    lastFour === null ? "–" : cardName(lastFour),
    <OrderLink key="order" orderId={orderId} orderName={orderNames[orderId ?? ""]} />,
    <>
      {money(journal.cents)} <span className="text-ui-fg-muted">{sideText(texts, journal)}</span>
    </>,
    <>
      {money(other.cents)} <span className="text-ui-fg-muted">{`${side}: ${sideText(texts, other)}`}</span>
    </>,
  ];
}
