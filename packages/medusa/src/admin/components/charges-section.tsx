import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Table } from "@medusajs/ui";
import { type FormEvent, useState } from "react";
import { useCharges } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { ChargeDrawer } from "./charge-drawer.js";
import { ChargeTable } from "./charge-table.js";
import { stateColors, stateText } from "./labels.js";
import { Choice, Field, InputField, Nothing, Section, SmallButton } from "./section.js";

const PAGE_SIZE = 20;
const ALL = "all";

interface Filter {
  readonly q: string;
  readonly state: ChargeState | typeof ALL;
  /** Days by the browser's clock, such as `2026-11-26`; the last one is included. */
  readonly from: string;
  readonly to: string;
  readonly order: "-created_at" | "created_at";
}

const noFilter: Filter = { q: "", state: ALL, from: "", to: "", order: "-created_at" };

/** Returns the beginning of a day, or of the next one, by the browser's clock. */
const beginOf = (day: string, after = 0): string => {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + after);
  return at.toISOString();
};

export function ChargesSection() {
  const { t } = useTexts();
  const [filter, setFilter] = useState(noFilter);
  const [pageIndex, setPageIndex] = useState(0);
  const [openReference, setOpenReference] = useState<string>();
  const { q, state, from, to, order } = filter;
  const { data, error } = useCharges({
    q,
    states: state === ALL ? undefined : [state],
    ...(from && { from: beginOf(from) }),
    ...(to && { to: beginOf(to, 1) }),
    order,
    limit: PAGE_SIZE,
    offset: pageIndex * PAGE_SIZE,
  });
  const isFiltered = q !== "" || state !== ALL || from !== "" || to !== "";
  const change = (some: Partial<Filter>) => {
    setFilter((before) => ({ ...before, ...some }));
    setPageIndex(0);
  };
  return (
    <Section title={t("charges.title")} about={t("charges.about")}>
      <ChargeFilters key={q} filter={filter} onChange={change} />
      {error && <Nothing>{error.message}</Nothing>}
      {!error && data && data.count > 0 && (
        <>
          <ChargeTable charges={data.charges} onOpen={setOpenReference} isHistory />
          <Pages count={data.count} pageIndex={pageIndex} onChoose={setPageIndex} />
        </>
      )}
      {!error && data?.count === 0 && <Nothing>{isFiltered ? t("charges.noMatch") : t("charges.none")}</Nothing>}
      {!error && !data && <Nothing>{t("common.loading")}</Nothing>}
      {openReference && <ChargeDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />}
    </Section>
  );
}

function Pages({ count, pageIndex, onChoose }: { count: number; pageIndex: number; onChoose: (page: number) => void }) {
  const { t } = useTexts();
  const pageCount = Math.max(1, Math.ceil(count / PAGE_SIZE));
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
  const day = (name: "from" | "to") => (
    <InputField
      label={t(`charges.${name}`)}
      id={`giftcard-charges-${name}`}
      type="date"
      value={filter[name]}
      onChange={({ target }) => onChange({ [name]: target.value })}
    />
  );
  const states = (Object.keys(stateColors) as ChargeState[]).map((id) => ({
    id: id as string,
    title: stateText(texts, id),
  }));
  return (
    <form className="flex flex-wrap items-end gap-3 px-6 py-4" onSubmit={search}>
      <InputField
        label={t("charges.search")}
        id="giftcard-charges-q"
        className="min-w-[280px] flex-1"
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
      <Field label={t("charges.state")}>
        <Choice
          label={t("charges.state")}
          value={filter.state}
          options={[{ id: ALL, title: t("charges.allStates") }, ...states]}
          onChoose={(state) => onChange({ state: state as Filter["state"] })}
        />
      </Field>
      <div className="flex gap-3">
        {day("from")}
        {day("to")}
      </div>
      <Field label={t("charges.sort")}>
        <Choice
          label={t("charges.sort")}
          value={filter.order}
          options={[
            { id: "-created_at", title: t("charges.newest") },
            { id: "created_at", title: t("charges.oldest") },
          ]}
          onChoose={(order) => onChange({ order: order as Filter["order"] })}
        />
      </Field>
    </form>
  );
}
