import type { ChargeState } from "@giftcard-pay/checkout/store";
import { useState } from "react";
import { type ChargeRow, useCharges } from "../client/queries.js";
import { ChargeDrawer } from "./charge-drawer.js";
import { ChargeTable } from "./charge-table.js";
import { JobsSection } from "./jobs-section.js";
import { Nothing, Section, SmallButton } from "./section.js";
import { UnpaidOrdersSection } from "./unpaid-orders-section.js";
import { useDecide } from "./use-decide.js";

const LIMIT = 100;
const waiting: readonly ChargeState[] = ["reversing", "unknown"];

/** Charges that need a person's decision, and charges that recovery is still working on. */
export function OpenSections() {
  const [openReference, setOpenReference] = useState<string>();
  const attention = useCharges({ states: ["needs_attention"], limit: LIMIT, offset: 0 }).data;
  const owed = useCharges({ states: waiting, limit: LIMIT, offset: 0 }).data;
  const { decide, pendingReference } = useDecide();
  const tryNow = (charge: ChargeRow) =>
    charge.state === "reversing" && (
      <SmallButton isLoading={pendingReference === charge.reference} onClick={() => void decide(charge, "retry")}>
        Try now
      </SmallButton>
    );
  const look = (charge: ChargeRow) => (
    <SmallButton onClick={() => setOpenReference(charge.reference)}>Review</SmallButton>
  );
  return (
    <>
      <Section
        title={withCount("Needs attention", attention?.count)}
        about="Only a person can find out what happened to this money."
      >
        {attention && attention.count > 0 ? (
          <ChargeTable charges={attention.charges} onOpen={setOpenReference} action={look} />
        ) : (
          <Nothing>{attention ? "Nothing needs attention." : "Loading…"}</Nothing>
        )}
      </Section>
      <UnpaidOrdersSection />
      <JobsSection />
      <Section title={withCount("Open reversals", owed?.count)} about="The shop retries these until they are done.">
        {owed && owed.count > 0 ? (
          <ChargeTable charges={owed.charges} onOpen={setOpenReference} action={tryNow} />
        ) : (
          <Nothing>{owed ? "No reversal is open." : "Loading…"}</Nothing>
        )}
      </Section>
      {openReference && <ChargeDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />}
    </>
  );
}

const withCount = (title: string, count: number | undefined): string => (count ? `${title} (${count})` : title);
