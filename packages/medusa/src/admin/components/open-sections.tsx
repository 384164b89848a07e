import type { ChargeState } from "@giftcard-pay/checkout/store";
import { Button, Text, usePrompt } from "@medusajs/ui";
import { useState } from "react";
import {
  type ChargeRow,
  type HealthView,
  type JobRow,
  useCharges,
  useDecideJob,
  useResumeCancels,
} from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { WaitingRefunds } from "./bulk-refund-list.js";
import { ChargeDrawer, useDecide } from "./charge-drawer.js";
import { ChargeTable } from "./charge-table.js";
import { HealthTiles, OPEN_WORK_LIMIT, useOpenWork } from "./health-tiles.js";
import { codeText, faultText } from "./labels.js";
import { Nothing, OrderLink, Section, SmallButton } from "./section.js";

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
        <Section
          title={t("open.problems", { count: work.problems.length + (work.cancelStop ? 1 : 0) })}
          about={t("open.problemsAbout")}
        >
          {work.cancelStop && <CancelsStopped stop={work.cancelStop} />}
          {work.problems.length > 0 && <HealthTiles tiles={work.problems} />}
        </Section>
      )}
      {work && work.attention.count > 0 && (
        <Section title={t("open.attention", { count: work.attention.count })} about={t("open.attentionAbout")}>
          <ChargeTable charges={work.attention.charges} onOpen={setOpenReference} action={review} />
        </Section>
      )}
      {work && work.jobs.length > 0 && (
        <Section title={t("jobs.title", { count: work.jobs.length })} about={t("jobs.about")}>
          {work.jobs.map((job) => (
            <Job key={`${job.kind} ${job.id}`} job={job} />
          ))}
        </Section>
      )}
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

type CancelStop = NonNullable<HealthView["cancelStop"]>;

/** Reports that more orders look unpaid than the shop may cancel without a person. */
function CancelsStopped({ stop: { stoppedAt, waiting } }: { stop: CancelStop }) {
  const { t, time } = useTexts();
  const { mutate, isPending } = useResumeCancels();
  const prompt = usePrompt();
  const resume = async () => {
    const isSure = await prompt({
      title: t("cancels.title"),
      description: t("cancels.question", { count: waiting }),
      confirmText: t("cancels.resume"),
      cancelText: t("common.cancel"),
    });
    if (isSure) mutate();
  };
  return (
    <div className="bg-ui-tag-red-bg text-ui-tag-red-text flex items-center justify-between gap-x-4 px-6 py-2">
      <Text size="small">
        {t("cancels.stopped", { since: time(stoppedAt) })} {waiting > 0 && t("cancels.waiting", { count: waiting })}
      </Text>
      <SmallButton isLoading={isPending} onClick={() => void resume()}>
        {t("cancels.resume")}
      </SmallButton>
    </div>
  );
}

/** A job that fails each time the shop retries it. */
function Job({ job }: { job: JobRow }) {
  const texts = useTexts();
  const { t, time, why } = texts;
  const prompt = usePrompt();
  const decisions = { exempt: useDecideJob("exempt"), retry: useDecideJob("retry") };
  const of = job.kind === "unknown_refund" ? "refund" : "job";
  const decide = async (decision: "exempt" | "retry") => {
    const isConfirmed =
      (of === "job" && decision === "retry") ||
      (await prompt({
        title: t(`jobs.${of}.${decision}.title` as "jobs.refund.retry.title"),
        description: t(`jobs.${of}.${decision}.question` as "jobs.refund.retry.question"),
        confirmText: t(`jobs.${of}.${decision}.confirm` as "jobs.refund.retry.confirm"),
        cancelText: t("common.cancel"),
      }));
    if (isConfirmed) decisions[decision].mutate(job);
  };
  return (
    <div className="flex items-center justify-between gap-x-4 px-6 py-4">
      <div className="min-w-0">
        <Text size="small" weight="plus">
          {codeText(texts, "jobs.kinds", job.kind)}
          {job.orderId !== null && (
            <>
              {": "}
              <OrderLink {...job} />
            </>
          )}
        </Text>
        <Text size="small" className="text-ui-fg-subtle break-words">
          {job.why ? why(job.why) : faultText(texts, job.lastError)}
        </Text>
        <Text size="xsmall" className="text-ui-fg-muted">
          {t("jobs.tried", { count: job.tries, since: time(job.firstFailedAt), last: time(job.lastFailedAt) })}
        </Text>
      </div>
      <div className="flex shrink-0 gap-2">
        {job.kind !== "scan" && (
          <Button
            size="small"
            variant="transparent"
            isLoading={decisions.exempt.isPending}
            onClick={() => void decide("exempt")}
          >
            {t(`jobs.${of}.exempt.button`)}
          </Button>
        )}
        <SmallButton isLoading={decisions.retry.isPending} onClick={() => void decide("retry")}>
          {t(`jobs.${of}.retry.button`)}
        </SmallButton>
      </div>
    </div>
  );
}
