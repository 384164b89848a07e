import type { ChargeState } from "@giftcard-pay/checkout/store";
import { type JobRow, useDecideJob, usePayments, useRecovery } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { WaitingRefunds } from "./bulk-refund-list.js";
import { codeText, faultText } from "./labels.js";
import { PaymentTable } from "./payment-table.js";
import { useOpenWork } from "./problems.js";
import { ActionButton, Entry, Note, Nothing, OrderLink, Section, Small, Strong } from "./section.js";

const retried: readonly ChargeState[] = ["reversing", "unknown"];

/** Lists what needs a person, then the payments that recovery is still working on. */
export function OpenSections() {
  const { t } = useTexts();
  const work = useOpenWork();
  if (!work) return <Nothing>{t("common.loading")}</Nothing>;
  const { problems, attention, jobs, refunds, isOut } = work;
  return (
    <>
      {work.count === 0 && (
        <Section title={t("tabs.open")}>
          <Nothing>{t(isOut ? "open.waits" : "open.nothing")}</Nothing>
        </Section>
      )}
      {problems.length > 0 && (
        <Section title={t("open.problems", { count: problems.length })} about={t("open.problemsAbout")}>
          {problems.map(({ name, about }) => (
            <Entry key={name}>
              <Strong>{name}</Strong>
              <Small>{about}</Small>
            </Entry>
          ))}
        </Section>
      )}
      {attention.count > 0 && (
        <Section title={t("open.attention", { count: attention.count })} about={t("open.attentionAbout")}>
          <PaymentTable charges={attention.charges} />
        </Section>
      )}
      {jobs.length > 0 && (
        <Section title={t("jobs.title", { count: jobs.length })} about={t("jobs.about")}>
          {jobs.map((job) => (
            <Job key={`${job.kind} ${job.id}`} job={job} />
          ))}
        </Section>
      )}
      {refunds.length > 0 && <WaitingRefunds bulkRefunds={refunds} />}
      <RetriedPayments />
    </>
  );
}

/** Lists the payments that the shop retries by itself; hidden if there are none. */
function RetriedPayments() {
  const { t } = useTexts();
  const { data } = usePayments({ states: retried });
  const { mutate, isPending } = useRecovery();
  if (!data || data.count === 0) return null;
  const retry = (
    <ActionButton isLoading={isPending} onAct={mutate}>
      {t("open.retryNow")}
    </ActionButton>
  );
  return (
    <Section title={t("open.retried", { count: data.count })} about={t("open.retriedAbout")} actions={retry}>
      <PaymentTable charges={data.charges} />
    </Section>
  );
}

/** A job that fails each time the shop retries it. */
function Job({ job }: { job: JobRow }) {
  const texts = useTexts();
  const { t, time, why } = texts;
  const { mutate, isPending } = useDecideJob();
  const of = job.kind === "unknown_refund" ? "refund" : "job";
  const button = (decision: "exempt" | "retry") => (
    <ActionButton
      variant={decision === "exempt" ? "transparent" : "secondary"}
      disabled={isPending}
      question={
        of === "job" && decision === "retry"
          ? undefined
          : {
              title: t(`jobs.${of}.${decision}.title` as "jobs.refund.retry.title"),
              description: t(`jobs.${of}.${decision}.question` as "jobs.refund.retry.question"),
              variant: "danger",
            }
      }
      onAct={() => mutate({ job, decision })}
    >
      {t(`jobs.${of}.${decision}.button`)}
    </ActionButton>
  );
  return (
    <Entry
      actions={
        <>
          {job.kind !== "scan" && button("exempt")}
          {button("retry")}
        </>
      }
    >
      <Strong>
        {codeText(texts, "jobs.kinds", job.kind)}
        {job.orderId !== null && ": "}
        {job.orderId !== null && <OrderLink {...job} />}
      </Strong>
      <Small>{job.why ? why(job.why) : faultText(texts, job.lastError)}</Small>
      <Note>{t("jobs.tried", { count: job.tries, since: time(job.firstFailedAt), last: time(job.lastFailedAt) })}</Note>
    </Entry>
  );
}
