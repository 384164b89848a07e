import { Button, Text, usePrompt } from "@medusajs/ui";
import { type JobRow, useDecideJob, useJobs } from "../client/queries.js";
import { OrderLink, Section, SmallButton } from "./section.js";
import { jobTexts, time } from "./texts.js";

/** Lists recovery's failing jobs; hidden if there are none. Reversals have their own section. */
export function JobsSection() {
  const { data } = useJobs();
  const jobs = data?.jobs.filter(({ kind }) => kind !== "reversal" && kind !== "outcome") ?? [];
  if (jobs.length === 0) return null;
  return (
    <Section
      title={`Jobs that fail (${jobs.length})`}
      about="Recovery retries these every minute. Fix what the error names, then try again; or leave a job as it is."
    >
      {jobs.map((job) => (
        <Job key={`${job.kind} ${job.id}`} job={job} />
      ))}
    </Section>
  );
}

/** The buttons of a job, and what they ask. Without a question, a button acts at once. */
const texts = {
  job: {
    exempt: {
      button: "Leave it",
      title: "Leave it as it is?",
      description: "Recovery doesn't retry it any more. Your name is recorded with this decision.",
      confirmText: "Leave it as it is",
    },
    retry: { button: "Try now" },
  },
  refund: {
    exempt: {
      button: "It was refunded",
      title: "Was the money refunded?",
      description: "The order will show the refund. Your name is recorded with this decision.",
      confirmText: "It was refunded",
    },
    retry: {
      button: "It wasn't",
      title: "Was the money not refunded?",
      description: "The order owes it again. Refund it on the order's page; this refunds nothing.",
      confirmText: "It wasn't refunded",
    },
  },
};

function Job({ job }: { job: JobRow }) {
  const prompt = usePrompt();
  const decisions = { exempt: useDecideJob("exempt"), retry: useDecideJob("retry") };
  const { exempt, retry } = texts[job.kind === "unknown_refund" ? "refund" : "job"];
  const decide = async (decision: "exempt" | "retry", text: typeof exempt | typeof retry) => {
    if (!("title" in text) || (await prompt(text))) decisions[decision].mutate(job);
  };
  return (
    <div className="flex items-center justify-between gap-x-4 px-6 py-4">
      <div className="min-w-0">
        <Text size="small" weight="plus">
          {jobTexts[job.kind]}
          {job.orderId !== null && (
            <>
              {": "}
              <OrderLink {...job} />
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
          <Button
            size="small"
            variant="transparent"
            isLoading={decisions.exempt.isPending}
            onClick={() => void decide("exempt", exempt)}
          >
            {exempt.button}
          </Button>
        )}
        <SmallButton isLoading={decisions.retry.isPending} onClick={() => void decide("retry", retry)}>
          {retry.button}
        </SmallButton>
      </div>
    </div>
  );
}
