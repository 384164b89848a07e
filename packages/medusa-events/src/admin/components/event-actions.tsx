import { Button, toast, usePrompt } from "@medusajs/ui";
import { type EventRow, useCompare, usePublish, useRetract } from "../client/queries.js";
import { differsAtIssuer, fieldText, needsPublishing } from "./event-texts.js";

/** Publishes events, and shows the first fault of those that can't be published. */
export function usePublishEvents() {
  const { mutateAsync, isPending } = usePublish();
  const publishEvents = async (which: { keys: readonly string[] } | { all: true }) => {
    const result = await mutateAsync(which).catch(() => null);
    if (!result) return;
    const { published, refused } = result;
    if (published.length > 0) toast.success(`${published.length} published`);
    else if (refused.length === 0) toast.info("There is nothing to publish");
    const fault = refused[0]?.faults[0];
    if (fault)
      toast.error(`${refused.length} not published`, {
        description: `${fieldText(fault.field)} ${fault.message}.`,
      });
  };
  return { publishEvents, isPending };
}

/** Compares all events with the issuer's list, and shows how many have changed there. */
export function CompareButton() {
  const { mutateAsync, isPending } = useCompare();
  const compare = async () => {
    const result = await mutateAsync({}).catch(() => null);
    if (!result) return;
    const { length } = result.changed;
    if (length > 0) toast.success(`${length} updated from the issuer's list`);
    else toast.info("Nothing has changed at the issuer", { description: `${result.compared} compared.` });
  };
  return (
    <Button size="small" variant="transparent" isLoading={isPending} onClick={() => void compare()}>
      Compare with the issuer
    </Button>
  );
}

/** The buttons of one event. */
export function EventActions({ event }: { event: EventRow }) {
  const { publishEvents, isPending } = usePublishEvents();
  const { mutate: retract, isPending: isRetracting } = useRetract();
  const prompt = usePrompt();
  const keys = [event.key];
  const ask = async (state: "canceled" | "withdrawn") => {
    const isConfirmed = await prompt({
      ...texts[state],
      description: `${texts[state].description}${event.delivery.state === "delivered" ? ISSUER : ""}`,
      cancelText: "Keep it",
    });
    if (isConfirmed) retract({ keys, state });
  };
  const canPublish = event.state !== "published" || needsPublishing(event);
  return (
    <div className="flex flex-wrap gap-2">
      {differsAtIssuer(event) && <CompareButton />}
      {canPublish && (
        <Button size="small" variant="secondary" isLoading={isPending} onClick={() => void publishEvents({ keys })}>
          {event.state === "draft" ? "Publish" : "Publish again"}
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
            {texts[state].confirmText}
          </Button>
        ))}
    </div>
  );
}

const ISSUER = " The issuer's interface can't withdraw it. If the issuer doesn't fetch the feed, write to them.";
const texts = {
  canceled: {
    title: "Cancel the show?",
    description: "The feed, calendars and the product's page say that it is canceled. Nobody is refunded by this.",
    confirmText: "Cancel the show",
  },
  withdrawn: {
    title: "Withdraw it?",
    description: "The feed says that the shop no longer offers it, and calendars remove it.",
    confirmText: "Withdraw",
  },
} as const;
