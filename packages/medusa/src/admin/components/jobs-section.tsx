import { Button, Text, usePrompt } from "@medusajs/ui";
import { Link } from "react-router-dom";
import { type JobRow, useJobs, useKeepJob, useRetryJob } from "../client/queries.js";
import { Section } from "./section.js";
import { jobTexts, time } from "./texts.js";

/** What recovery fails to do; not there while nothing fails. Reversals stand in a section of their own. */
export function JobsSection() {
  const { data } = useJobs();
  const jobs = data?.jobs.filter(({ kind }) => kind !== "reversal" && kind !== "outcome") ?? [];
  if (jobs.length === 0) return null;
  return (
    <Section
      title={`Jobs that fail (${jobs.length})`}
      about="Recovery tries these each minute. Mend what the error names, then try; or leave one as it is."
    >
      {jobs.map((job) => (
        <Job key={`${job.kind} ${job.id}`} job={job} />
      ))}
    </Section>
  );
}

function Job({ job }: { job: JobRow }) {
  const retry = useRetryJob();
  const keep = useKeepJob();
  const prompt = usePrompt();
  const isRefund = job.kind === "unknown_refund";
  const leave = async () => {
    const isSure = await prompt({
      title: isRefund ? "Has the money gone back?" : "Leave it as it is?",
      description: isRefund
        ? "The order shows the refund from then on. This is written down with your name."
        : "Recovery doesn't try it any more. This is written down with your name.",
      confirmText: isRefund ? "It went back" : "Leave it as it is",
    });
    if (isSure) keep.mutate(job);
  };
  const again = async () => {
    const isSure =
      !isRefund ||
      (await prompt({
        title: "Has the money not gone back?",
        description:
          "The order owes it again, and is refunded anew on its own page. Nothing is refunded by this.",
        confirmText: "It didn't go back",
      }));
    if (isSure) retry.mutate(job);
  };
  return (
    <div className="flex items-center justify-between gap-x-4 px-6 py-4">
      <div className="min-w-0">
        <Text size="small" weight="plus">
          {jobTexts[job.kind]}
          {job.orderId !== null && (
            <>
              {": "}
              <Link to={`/orders/${job.orderId}`} className="text-ui-fg-interactive">
                {job.orderName ?? "Order"}
              </Link>
            </>
          )}
        </Text>
        <Text size="small" className="text-ui-fg-subtle break-words">
          {job.lastError}
        </Text>
        <Text size="xsmall" className="text-ui-fg-muted">
          Tried {job.tries === 1 ? "once" : `${job.tries} times`} since {time(job.firstFailedAt)}, last{" "}
          {time(job.lastFailedAt)}
        </Text>
      </div>
      <div className="flex shrink-0 gap-2">
        {job.kind !== "scan" && (
          <Button size="small" variant="transparent" isLoading={keep.isPending} onClick={() => void leave()}>
            {isRefund ? "It went back" : "Leave it"}
          </Button>
        )}
        <Button size="small" variant="secondary" isLoading={retry.isPending} onClick={() => void again()}>
          {isRefund ? "It didn't" : "Try now"}
        </Button>
      </div>
    </div>
  );
}
