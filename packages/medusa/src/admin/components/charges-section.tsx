import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Table } from "@medusajs/ui";
import { type FormEvent, useState } from "react";
import { usePayments } from "../client/queries.js";
import { beginOf } from "../i18n/formats.js";
import { useTexts } from "../i18n/use-texts.js";
import { stateColors, stateText } from "./labels.js";
import { PaymentTable } from "./payment-table.js";
import { Choice, InputField, Nothing, Section, SmallButton } from "./section.js";

const PAGE_SIZE = 20;
const ALL = "all";

interface Filter {
  readonly q: string;
  readonly state: ChargeState | typeof ALL;
  /** A day by the browser's clock, such as `2026-11-26`; empty for all. */
  readonly day: string;
}

/** Lists the payments by card under their days. */
export function ChargesSection() {
  const { t } = useTexts();
  const [filter, setFilter] = useState<Filter>({ q: "", state: ALL, day: "" });
  const [pageIndex, setPageIndex] = useState(0);
  const { q, state, day } = filter;
  const { data, error } = usePayments({
    q,
    states: state === ALL ? undefined : [state],
    ...(day && { from: beginOf(day), to: beginOf(day, 1) }),
    limit: PAGE_SIZE,
    offset: pageIndex * PAGE_SIZE,
  });
  const isFiltered = q !== "" || state !== ALL || day !== "";
  const change = (some: Partial<Filter>) => {
    setFilter((before) => ({ ...before, ...some }));
    setPageIndex(0);
  };
  const nothing = t(isFiltered ? "charges.noMatch" : "charges.none");
  return (
    <Section title={t("charges.title")} about={t("charges.about")}>
      <ChargeFilters key={q} filter={filter} onChange={change} />
      {data && data.count > 0 && !error ? (
        <>
          <PaymentTable charges={data.charges} isByDay />
          <Pages count={data.count} pageIndex={pageIndex} onChoose={setPageIndex} />
        </>
      ) : (
        <Nothing>{error ? error.message : data ? nothing : t("common.loading")}</Nothing>
      )}
    </Section>
  );
}

function Pages({ count, pageIndex, onChoose }: { count: number; pageIndex: number; onChoose: (page: number) => void }) {
  const { t } = useTexts();
  const pageCount = Math.ceil(count / PAGE_SIZE);
  if (pageCount < 2) return null;
  return (
    <Table.Pagination
      count={count}
      pageSize={PAGE_SIZE}
      pageIndex={pageIndex}
      pageCount={pageCount}
      canPreviousPage={pageIndex > 0}
      canNextPage={pageIndex < pageCount - 1}
      previousPage={() => onChoose(pageIndex - 1)}
      nextPage={() => onChoose(pageIndex + 1)}
      translations={{
        of: t("pages.of"),
        results: t("pages.results"),
        pages: t("pages.pages"),
        prev: t("pages.previous"),
        next: t("pages.next"),
      }}
    />
  );
}

function ChargeFilters({ filter, onChange }: { filter: Filter; onChange: (some: Partial<Filter>) => void }) {
  const texts = useTexts();
  const { t } = texts;
  const [q, setQ] = useState(filter.q);
  const search = (event: FormEvent) => {
    event.preventDefault();
    onChange({ q: q.trim() });
  };
  const states = Object.keys(stateColors).map((id) => ({ id, title: stateText(texts, id as ChargeState) }));
  return (
    <form className="flex flex-wrap items-end gap-3 px-6 py-4" onSubmit={search}>
      <div className="flex min-w-full flex-1 items-end gap-3 sm:min-w-0">
        <InputField
          label={t("charges.search")}
          id="giftcard-charges-q"
          className="flex-1"
          type="search"
          maxLength={320}
          placeholder={t("charges.searchHint")}
          value={q}
          onChange={({ target }) => {
            setQ(target.value);
            if (target.value === "") onChange({ q: "" });
          }}
        />
        <SmallButton type="submit">{t("charges.find")}</SmallButton>
      </div>
      <InputField
        label={t("charges.day")}
        id="giftcard-charges-day"
        type="date"
        value={filter.day}
        onChange={({ target }) => onChange({ day: target.value })}
      />
      <Choice
        label={t("charges.state")}
        value={filter.state}
        options={[{ id: ALL, title: t("charges.allStates") }, ...states]}
        onChoose={(state) => onChange({ state: state as Filter["state"] })}
      />
    </form>
  );
}
