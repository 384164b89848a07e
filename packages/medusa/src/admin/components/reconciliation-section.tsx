import type { Difference } from "@giftcard-pay/checkout/operator";
import type { ReportFault } from "@giftcard-pay/checkout/plugin";
import { ArrowUpTray } from "@medusajs/icons";
import { Badge, Button, StatusBadge, Table, Text } from "@medusajs/ui";
import { type FormEvent, useRef, useState } from "react";
import { type ReconciliationView, useReconciliation } from "../client/queries.js";
import { reportDay } from "../i18n/formats.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { cardName, differenceText, stateText } from "./labels.js";
import { Field, FieldError, InputField, Nothing, OrderLink, Rows, Section, Small, SmallButton } from "./section.js";

/** Compares the shop's records with Medusa's payments and, if it is shared, with the card issuer's report. */
export function ReconciliationSection() {
  const texts = useTexts();
  const { t } = texts;
  const { mutate, data, isPending, reset } = useReconciliation();
  const today = reportDay();
  const [days, setDays] = useState({ from: `${today.slice(0, 7)}-01`, to: today });
  const [report, setReport] = useState<File>();
  const fault = data?.reportFault ?? null;
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
        <ReportField
          isInvalid={fault !== null}
          onChoose={(file) => {
            setReport(file);
            reset();
          }}
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

/** The field for the service's report, in the style of Medusa's own buttons. */
function ReportField(props: { isInvalid: boolean; onChoose: (file: File | undefined) => void }) {
  const { isInvalid, onChoose } = props;
  const { t } = useTexts();
  const input = useRef<HTMLInputElement>(null);
  const [name, setName] = useState<string>();
  return (
    <Field label={t("reconciliation.report")} id="giftcard-report">
      <div className="flex items-center gap-x-2">
        <input
          ref={input}
          id="giftcard-report"
          type="file"
          tabIndex={-1}
          accept=".json,.csv,application/json,text/csv"
          className="sr-only"
          aria-invalid={isInvalid}
          aria-describedby="giftcard-report-error"
          onChange={({ target }) => {
            setName(target.files?.[0]?.name);
            onChoose(target.files?.[0]);
          }}
        />
        <SmallButton
          type="button"
          aria-describedby="giftcard-report-error"
          onClick={() => {
            // Otherwise the browser reports no change if the same file is chosen again, after it was corrected.
            if (input.current) input.current.value = "";
            input.current?.click();
          }}
        >
          <ArrowUpTray />
          {t("common.chooseFile")}
        </SmallButton>
        <Small>{name ?? t("common.noFile")}</Small>
      </div>
    </Field>
  );
}

function Result({ result }: { result: ReconciliationView }) {
  const { t, day } = useTexts();
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
        <Rows columns={columns}>
          {differences.map((difference) => (
            <Row
              key={`${difference.kind} ${difference.reference} ${difference.lastFour} ${difference.other.says}`}
              difference={difference}
              orderNames={orderNames}
            />
          ))}
        </Rows>
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

function Row(props: { difference: Difference; orderNames: Readonly<Record<string, string>> }) {
  const texts = useTexts();
  const { t, money } = texts;
  const { kind, lastFour, orderId, journal, other } = props.difference;
  return (
    <Table.Row>
      <Table.Cell>
        <Badge size="2xsmall">{differenceText(texts, kind)}</Badge>
      </Table.Cell>
      <Table.Cell className="text-nowrap">{lastFour === null ? "–" : cardName(lastFour)}</Table.Cell>
      <Table.Cell>
        <OrderLink orderId={orderId} orderName={props.orderNames[orderId ?? ""]} />
      </Table.Cell>
      <Table.Cell>
        {money(journal.cents)} <span className="text-ui-fg-muted">{sideText(texts, journal)}</span>
      </Table.Cell>
      <Table.Cell>
        {money(other.cents)}{" "}
        <span className="text-ui-fg-muted">
          {t(`reconciliation.side.${other.who}`)}: {sideText(texts, other)}
        </span>
      </Table.Cell>
    </Table.Row>
  );
}
