import type { ChargeState } from "@giftcard-pay/checkout/store";
import { useState } from "react";
import { type ChargeRow, useBulkRefunds, useCharges, useJobs, useUnpaidOrders } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { WaitingRefunds } from "./bulk-refund-list.js";
import { ChargeDrawer } from "./charge-drawer.js";
import { ChargeTable } from "./charge-table.js";
import { JobsSection } from "./jobs-section.js";
import { Nothing, Section, SmallButton } from "./section.js";
import { UnpaidOrdersSection } from "./unpaid-orders-section.js";
import { useDecide } from "./use-decide.js";

const LIMIT = 100;
const retried: readonly ChargeState[] = ["reversing", "unknown"];

/** Reads everything that needs a person, and its number; undefined until all of it is read. */
export function useOpenWork() {
  const attention = useCharges({ states: ["needs_attention"], limit: LIMIT, offset: 0 }).data;
  const unpaid = useUnpaidOrders().data;
  // Reversals and unknown outcomes are charges, and listed as such.
  const jobs = useJobs().data?.jobs.filter(({ kind }) => kind !== "reversal" && kind !== "outcome");
  const refunds = useBulkRefunds().data?.bulkRefunds.filter(({ waiting }) => waiting.length > 0);
  if (!attention || !unpaid || !jobs || !refunds) return undefined;
  const waiting = refunds.reduce((sum, one) => sum + one.waiting.length, 0);
  return { attention, unpaid, jobs, refunds, count: attention.count + unpaid.count + jobs.length + waiting };
}

/** What needs a person, then the charges that the shop still works on by itself. */
export function OpenSections() {
  const { t } = useTexts();
  const [openReference, setOpenReference] = useState<string>();
  const work = useOpenWork();
  const review = (charge: ChargeRow) => (
    <SmallButton onClick={() => setOpenReference(charge.reference)}>{t("open.review")}</SmallButton>
  );
  return (
    <>
      {(!work || work.count === 0) && (
        <Section title={t("open.title")}>
          <Nothing>{work ? t("open.nothing") : t("common.loading")}</Nothing>
        </Section>
      )}
      {work && work.attention.count > 0 && (
        <Section title={t("open.attention", { count: work.attention.count })} about={t("open.attentionAbout")}>
          <ChargeTable charges={work.attention.charges} onOpen={setOpenReference} action={review} />
        </Section>
      )}
      {work && work.unpaid.count > 0 && <UnpaidOrdersSection {...work.unpaid} />}
      {work && work.jobs.length > 0 && <JobsSection jobs={work.jobs} />}
      {work && work.refunds.length > 0 && <WaitingRefunds bulkRefunds={work.refunds} />}
      <RetriedCharges onOpen={setOpenReference} />
      {openReference && <ChargeDrawer reference={openReference} onClose={() => setOpenReference(undefined)} />}
    </>
  );
}

/** Lists the charges that the shop retries by itself; hidden if there are none. */
function RetriedCharges({ onOpen }: { onOpen: (reference: string) => void }) {
  const { t } = useTexts();
  const { data } = useCharges({ states: retried, limit: LIMIT, offset: 0 });
  const { decide, pendingReference } = useDecide();
  if (!data || data.count === 0) return null;
  const tryNow = (charge: ChargeRow) =>
    charge.state === "reversing" && (
      <SmallButton isLoading={pendingReference === charge.reference} onClick={() => void decide(charge, "retry")}>
        {t("open.tryNow")}
      </SmallButton>
    );
  return (
    <Section title={t("open.retried", { count: data.count })} about={t("open.retriedAbout")}>
      <ChargeTable charges={data.charges} onOpen={onOpen} action={tryNow} />
    </Section>
  );
}
