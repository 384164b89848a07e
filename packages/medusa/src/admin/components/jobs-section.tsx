import { Button, Text, usePrompt } from "@medusajs/ui";
import { type JobRow, useDecideJob } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { codeText, faultText } from "./labels.js";
import { OrderLink, Section, SmallButton } from "./section.js";

/** Lists the jobs that fail each time the shop retries them. */
export function JobsSection({ jobs }: { jobs: readonly JobRow[] }) {
  const { t } = useTexts();
  return (
    <Section title={t("jobs.title", { count: jobs.length })} about={t("jobs.about")}>
      {jobs.map((job) => (
        <Job key={`${job.kind} ${job.id}`} job={job} />
      ))}
    </Section>
  );
}

function Job({ job }: { job: JobRow }) {
  const texts = useTexts();
  const { t, time } = texts;
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
          {faultText(texts, job.lastError)}
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
