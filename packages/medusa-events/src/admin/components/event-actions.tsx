import { Button, toast, usePrompt } from "@medusajs/ui";
import { type EventRow, useCompare, usePublish, useRetract } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { differsAtIssuer, fieldText, needsPublishing } from "./event-state.js";

/** Publishes events, and shows the first fault of those that can't be published. */
export function usePublishEvents() {
  const texts = useTexts();
  const { t } = texts;
  const { mutateAsync, isPending } = usePublish();
  const publishEvents = async (which: { keys: readonly string[] } | { all: true }) => {
    const result = await mutateAsync(which).catch(() => null);
    if (!result) return;
    const { published, refused } = result;
    if (published.length > 0) toast.success(t("actions.published", { number: published.length }));
    else if (refused.length === 0) toast.info(t("actions.nothing"));
    const fault = refused[0]?.faults[0];
    if (fault)
      toast.error(t("actions.notPublished", { number: refused.length }), {
        description: t("delivery.fault", { field: fieldText(texts, fault.field), message: fault.message }),
      });
  };
  return { publishEvents, isPending };
}

/** Compares all events with the issuer's list, and shows how many have changed there. */
export function CompareButton() {
  const { t } = useTexts();
  const { mutateAsync, isPending } = useCompare();
  const compare = async () => {
    const result = await mutateAsync({}).catch(() => null);
    if (!result) return;
    const { length } = result.changed;
    if (length > 0) toast.success(t("actions.updated", { number: length }));
    else toast.info(t("actions.unchanged"), { description: t("actions.compared", { number: result.compared }) });
  };
  return (
    <Button size="small" variant="transparent" isLoading={isPending} onClick={() => void compare()}>
      {t("actions.compare")}
    </Button>
  );
}

/** The buttons of one event. */
export function EventActions({ event }: { event: EventRow }) {
  const { t } = useTexts();
  const { publishEvents, isPending } = usePublishEvents();
  const { mutate: retract, isPending: isRetracting } = useRetract();
  const prompt = usePrompt();
  const keys = [event.key];
  const ask = async (state: "canceled" | "withdrawn") => {
    const question = t(`actions.${state}.question`);
    const isConfirmed = await prompt({
      title: t(`actions.${state}.title`),
      description: event.delivery.state === "delivered" ? `${question} ${t("actions.atIssuer")}` : question,
      confirmText: t(`actions.${state}.button`),
      cancelText: t("actions.keep"),
    });
    if (isConfirmed) retract({ keys, state });
  };
  const canPublish = event.state !== "published" || needsPublishing(event);
  return (
    <div className="flex flex-wrap gap-2">
      {differsAtIssuer(event) && <CompareButton />}
      {canPublish && (
        <Button size="small" variant="secondary" isLoading={isPending} onClick={() => void publishEvents({ keys })}>
          {event.state === "draft" ? t("actions.publish") : t("actions.publishAgain")}
        </Button>
      )}
      {event.state === "published" &&
        (["withdrawn", "canceled"] as const).map((state) => (
          <Button
            key={state}
            size="small"
            variant="transparent"
            isLoading={isRetracting}
            onClick={() => void ask(state)}
          >
            {t(`actions.${state}.button`)}
          </Button>
        ))}
    </div>
  );
}
