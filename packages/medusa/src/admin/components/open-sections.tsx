import type { ChargeState } from "@giftcard-pay/checkout/store";
import { useState } from "react";
import { type ChargeRow, useCharges } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { WaitingRefunds } from "./bulk-refund-list.js";
import { ChargeDrawer } from "./charge-drawer.js";
import { ChargeTable } from "./charge-table.js";
import { JobsSection } from "./jobs-section.js";
import { OPEN_WORK_LIMIT, useOpenWork } from "./open-work.js";
import { ProblemsSection } from "./problems-section.js";
import { Nothing, Section, SmallButton } from "./section.js";
import { UnpaidOrdersSection } from "./unpaid-orders-section.js";
import { useDecide } from "./use-decide.js";

const retried: readonly ChargeState[] = ["reversing", "unknown"];

/** Charges that need a person, then those that recovery is still working on. */
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
          <Nothing>{!work ? t("common.loading") : t(work.isAwaiting ? "open.nothingYet" : "open.nothing")}</Nothing>
        </Section>
      )}
      {work && (work.problems.length > 0 || work.cancelStop) && (
        <ProblemsSection problems={work.problems} stop={work.cancelStop} />
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
  const { data } = useCharges({ states: retried, limit: OPEN_WORK_LIMIT, offset: 0 });
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
