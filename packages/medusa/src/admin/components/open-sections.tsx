import type { AttemptState } from "@giftcard-pay/checkout";
import { Button } from "@medusajs/ui";
import { useState } from "react";
import { type AttemptRow, useAttempts } from "../client/queries.js";
import { AttemptDrawer } from "./attempt-drawer.js";
import { AttemptTable } from "./attempt-table.js";
import { Nothing, Section } from "./section.js";
import { UnpaidOrdersSection } from "./unpaid-orders-section.js";
import { useDecide } from "./use-decide.js";

const LIMIT = 100;
const waiting: readonly AttemptState[] = ["reversing", "unknown"];

/** What only a person can settle, and what the shop still works on by itself. */
export function OpenSections() {
  const [openReference, setOpenReference] = useState<string>();
  const attention = useAttempts({ states: ["needs_attention"], limit: LIMIT, offset: 0 }).data;
  const owed = useAttempts({ states: waiting, limit: LIMIT, offset: 0 }).data;
  const { decide, pendingReference } = useDecide();
  const tryNow = (attempt: AttemptRow) =>
    attempt.state === "reversing" && (
      <Button
        size="small"
        variant="secondary"
        isLoading={pendingReference === attempt.reference}
        onClick={() => void decide(attempt, "retry")}
      >
        Try now
      </Button>
    );
  const look = (attempt: AttemptRow) => (
    <Button size="small" variant="secondary" onClick={() => setOpenReference(attempt.reference)}>
      Look and decide
    </Button>
  );
  return (
    <>
      <Section
        title={withCount("Needs attention", attention?.count)}
        about="Only a person can tell what happened to this money."
      >
        {attention && attention.count > 0 ? (
          <AttemptTable attempts={attention.attempts} onOpen={setOpenReference} action={look} />
        ) : (
          <Nothing>{attention ? "Nothing needs attention." : "Loading…"}</Nothing>
        )}
      </Section>
      <UnpaidOrdersSection />
      <Section
        title={withCount("Open reversals", owed?.count)}
        about="The shop tries these by itself until they are done."
      >
        {owed && owed.count > 0 ? (
          <AttemptTable attempts={owed.attempts} onOpen={setOpenReference} action={tryNow} />
        ) : (
          <Nothing>{owed ? "No card waits for its money." : "Loading…"}</Nothing>
        )}
      </Section>
      {openReference && (
        <AttemptDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />
      )}
    </>
  );
}

const withCount = (title: string, count: number | undefined): string =>
  count ? `${title} (${count})` : title;
