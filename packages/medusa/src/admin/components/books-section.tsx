import { StatusBadge, Table, Text } from "@medusajs/ui";
import { useState } from "react";
import type { BooksReport } from "../../reports/books-report.js";
import type { MovementKind } from "../../reports/order-movements.js";
import { useBooks, useBooksFile } from "../client/queries.js";
import { reportDay } from "../i18n/formats.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { methodName } from "./labels.js";
import { download, MonthField, Nothing, Section, SmallButton, Strong, TableHead } from "./section.js";

/** The export for the books of a month: its totals, and the files for accounting software. */
export function BooksSection() {
  const { t } = useTexts();
  const [month, setMonth] = useState(reportDay().slice(0, 7));
  const { data, error, isFetching } = useBooks(month);
  const { mutateAsync, isPending, variables } = useBooksFile();
  const save = async (format: "csv" | "datev") => {
    const file = await mutateAsync({ month, format }).catch(() => null);
    if (file) download(`${format === "datev" ? "EXTF_" : ""}books-${month}.csv`, "text/csv", file);
  };
  const fileButton = (format: "csv" | "datev", label: string, isDisabled: boolean) => (
    <SmallButton
      disabled={isDisabled || isPending}
      isLoading={isPending && variables?.format === format}
      onClick={() => void save(format)}
    >
      {label}
    </SmallButton>
  );
  return (
    <Section
      title={t("books.title")}
      about={t("books.about")}
      actions={
        <>
          {fileButton("csv", t("common.downloadCsv"), !data)}
          {fileButton("datev", t("books.downloadDatev"), !data || data.books.datev !== null)}
        </>
      }
    >
      <div className="flex flex-wrap items-end gap-4 px-6 py-4">
        <MonthField id="giftcard-books-month" month={month} onChange={setMonth} />
        <Text size="small" className="text-ui-fg-subtle" role="status">
          {isFetching || isPending ? t("books.running") : ""}
        </Text>
      </div>
      {error && <Nothing>{error.message}</Nothing>}
      {!error && data && <Totals books={data.books} />}
    </Section>
  );
}

function Totals({ books }: { books: BooksReport }) {
  const texts = useTexts();
  const { t, money, time } = texts;
  if (books.movements === 0) return <Nothing>{t("books.none")}</Nothing>;
  const kinds = Object.entries(books.byKind).filter(([, { count }]) => count > 0);
  return (
    <>
      <div className="flex flex-col gap-y-1 px-6 py-4">
        <StatusBadge color={books.reconciles ? "green" : "red"} className="max-w-full self-start py-0.5 leading-4">
          {books.reconciles ? t("books.reconciles") : t("books.differs")}
        </StatusBadge>
        {books.until !== null && <Note>{t("books.until", { time: time(books.until) })}</Note>}
        {books.datev !== null && (
          <Note>{t(`books.noDatev.${books.datev.code}`, { values: books.datev.values.join(", ") })}</Note>
        )}
        {books.otherCurrencies > 0 && <Note>{t("books.otherCurrencies", { count: books.otherCurrencies })}</Note>}
      </div>
      {!books.reconciles && <Differences books={books} />}
      <Amounts
        head={[t("books.movement"), t("books.number"), t("books.gross")]}
        rows={kinds.map(([kind, { count, grossCents }]) => [
          t(`books.kinds.${kind as MovementKind}`),
          String(count),
          money(grossCents),
        ])}
      />
      <Amounts
        head={[t("books.rate"), t("books.net"), t("books.vat"), t("books.gross")]}
        rows={books.byRate.map(({ ratePercent, netCents, vatCents, grossCents }) => [
          t("books.percent", { percent: texts.number(Number(ratePercent)) }),
          ...[netCents, vatCents, grossCents].map(money),
        ])}
      />
      <Amounts
        head={[t("books.method"), t("books.paid"), t("books.repaid"), t("books.balance")]}
        rows={books.byMethod.map(({ method, paidCents, repaidCents, netCents }) => [
          methodOf(texts, method),
          ...[paidCents, repaidCents, netCents].map(money),
        ])}
      />
      <div className="flex items-center justify-between px-6 py-4">
        <Strong>{t(books.receivableCents < 0 ? "books.owedToCustomers" : "books.owedByCustomers")}</Strong>
        <Strong>{money(Math.abs(books.receivableCents))}</Strong>
      </div>
    </>
  );
}

const methodOf = (texts: Texts, method: string): string =>
  method === "card" ? texts.t("page.title") : methodName(texts, method);

/** Lists the checks whose sums differ, with both sides. */
function Differences({ books }: { books: BooksReport }) {
  const texts = useTexts();
  const { t, money } = texts;
  const rows = books.checks
    .filter(({ differenceCents }) => differenceCents !== 0)
    .map(({ check, method, exportCents, otherCents, differenceCents }) => [
      method === null ? t(`books.checks.${check}`) : `${t(`books.checks.${check}`)}, ${methodOf(texts, method)}`,
      ...[exportCents, otherCents, differenceCents].map(money),
    ]);
  const head = [t("books.check"), t("books.inExport"), t("books.elsewhere"), t("books.difference")];
  return <Amounts head={head} rows={rows} isError />;
}

/** A table of a name and amounts. */
function Amounts(props: { head: readonly string[]; rows: readonly (readonly string[])[]; isError?: boolean }) {
  const { head, rows, isError = false } = props;
  if (rows.length === 0) return null;
  return (
    <div className="overflow-x-auto">
      <Table>
        <TableHead columns={head} amounts={head.slice(1)} />
        <Table.Body className={isError ? "text-ui-fg-error" : ""}>
          {rows.map(([name, ...amounts]) => (
            <Table.Row key={name}>
              <Table.Cell>{name}</Table.Cell>
              {amounts.map((amount, column) => (
                <Table.Cell key={head[column + 1]} className="text-right">
                  {amount}
                </Table.Cell>
              ))}
            </Table.Row>
          ))}
        </Table.Body>
      </Table>
    </div>
  );
}

const Note = ({ children }: { children: string }) => (
  <Text size="small" className="text-ui-fg-subtle">
    {children}
  </Text>
);
