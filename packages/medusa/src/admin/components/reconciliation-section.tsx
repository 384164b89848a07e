import type { Difference } from "@giftcard-pay/checkout";
import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Badge, Button, Input, StatusBadge, Table, Text } from "@medusajs/ui";
import { type FormEvent, useState } from "react";
import { type ReconciliationView, useReconciliation } from "../client/queries.js";
import { reportDay } from "../client/today.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { cardName, differenceText, stateColors, stateText } from "./labels.js";
import { Field, FileField, Nothing, OrderLink, Section, TableHead } from "./section.js";

/** Compares the shop's records with Medusa's payments and, if it is shared, with the gift card provider's report. */
export function ReconciliationSection() {
  const { t } = useTexts();
  const { mutate, data, isPending } = useReconciliation();
  const today = reportDay();
  const [days, setDays] = useState({ from: `${today.slice(0, 7)}-01`, to: today });
  const [report, setReport] = useState<File>();
  async function compare(event: FormEvent): Promise<void> {
    event.preventDefault();
    mutate({ ...days, ...(report && { report: await report.text() }) });
  }
  const day = (name: "from" | "to") => (
    <Field label={t(`reconciliation.${name}`)} id={`giftcard-${name}`}>
      <Input
        id={`giftcard-${name}`}
        size="small"
        type="date"
        required
        value={days[name]}
        onChange={({ target }) => setDays({ ...days, [name]: target.value })}
      />
    </Field>
  );
  return (
    <Section title={t("reconciliation.title")} about={t("reconciliation.about")}>
      <form className="flex flex-wrap items-end gap-4 px-6 py-4" onSubmit={(event) => void compare(event)}>
        {day("from")}
        {day("to")}
        <FileField
          label={t("reconciliation.report")}
          id="giftcard-report"
          accept=".json,.csv,application/json,text/csv"
          onChoose={setReport}
        />
        <Button size="small" type="submit" isLoading={isPending}>
          {t("reconciliation.compare")}
        </Button>
      </form>
      {data ? <Result result={data.reconciliation} /> : <Nothing>{t("reconciliation.hint")}</Nothing>}
    </Section>
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
        <div className="overflow-x-auto">
          <Table>
            <TableHead columns={columns} />
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

/** Translates the states among the words of the shop's records. */
const recordText = (texts: Texts, says: string): string =>
  says
    .split(", ")
    .map((word) => (word in stateColors ? stateText(texts, word as ChargeState) : word.replaceAll("_", " ")))
    .join(", ");

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
        {money(journal.cents)} <span className="text-ui-fg-muted">{recordText(texts, journal.says)}</span>
      </Table.Cell>
      <Table.Cell>
        {money(other.cents)}{" "}
        <span className="text-ui-fg-muted">
          {t(`reconciliation.side.${other.who}`)}: {other.says}
        </span>
      </Table.Cell>
    </Table.Row>
  );
}
