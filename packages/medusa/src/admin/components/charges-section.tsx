import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Select, Table } from "@medusajs/ui";
import { useState } from "react";
import { useCharges } from "../client/queries.js";
import { ChargeDrawer } from "./charge-drawer.js";
import { ChargeTable } from "./charge-table.js";
import { Nothing, Section } from "./section.js";
import { stateTexts } from "./texts.js";

const PAGE_SIZE = 20;
const ALL = "all";

export function ChargesSection() {
  const [state, setState] = useState<ChargeState | typeof ALL>(ALL);
  const [pageIndex, setPageIndex] = useState(0);
  const [openReference, setOpenReference] = useState<string>();
  const states = state === ALL ? undefined : [state];
  const { data } = useCharges({ states, limit: PAGE_SIZE, offset: pageIndex * PAGE_SIZE });
  const pageCount = Math.max(1, Math.ceil((data?.count ?? 0) / PAGE_SIZE));
  const filter = (
    <Select
      size="small"
      value={state}
      onValueChange={(value) => {
        setState(value as ChargeState | typeof ALL);
        setPageIndex(0);
      }}
    >
      <Select.Trigger aria-label="State" className="w-[200px]">
        <Select.Value />
      </Select.Trigger>
      <Select.Content>
        <Select.Item value={ALL}>All states</Select.Item>
        {Object.entries(stateTexts).map(([name, { label }]) => (
          <Select.Item key={name} value={name}>
            {label}
          </Select.Item>
        ))}
      </Select.Content>
    </Select>
  );
  return (
    <Section title="Charges" actions={filter}>
      {data && data.count > 0 ? (
        <>
          <ChargeTable charges={data.charges} onOpen={setOpenReference} />
          <Table.Pagination
            count={data.count}
            pageSize={PAGE_SIZE}
            pageIndex={pageIndex}
            pageCount={pageCount}
            canPreviousPage={pageIndex > 0}
            canNextPage={pageIndex < pageCount - 1}
            previousPage={() => setPageIndex(pageIndex - 1)}
            nextPage={() => setPageIndex(pageIndex + 1)}
          />
        </>
      ) : (
        <Nothing>{data ? "No charges." : "Loading…"}</Nothing>
      )}
      {openReference && <ChargeDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />}
    </Section>
  );
}
