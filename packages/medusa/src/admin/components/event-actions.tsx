import { Button, toast, usePrompt } from "@medusajs/ui";
import { type EventRow, useCompare, usePublish, useTakeBack } from "../client/event-queries.js";
import { fieldText, isOtherAtIssuer, isToBeSent } from "./event-texts.js";

/** Publishes events, and says what was missing where it couldn't. */
export function usePublishEvents() {
  const { mutateAsync, isPending } = usePublish();
  const publishEvents = async (what: { keys: readonly string[] } | { all: true }) => {
    const done = await mutateAsync(what).catch(() => null);
    if (!done) return;
    const { published, refused } = done;
    if (published.length > 0) toast.success(`${published.length} published`);
    else if (refused.length === 0) toast.info("There is nothing to publish");
    const [first] = refused;
    const fault = first?.faults[0];
    if (fault)
      toast.error(`${refused.length} not published`, {
        description: `${fieldText(fault.field)} ${fault.message}.`,
      });
  };
  return { publishEvents, isPending };
}

/** Looks in the issuer's list what has changed there, and says so. */
export function CompareButton() {
  const { mutateAsync, isPending } = useCompare();
  const compare = async () => {
    const done = await mutateAsync(undefined).catch(() => null);
    if (!done) return;
    const { length } = done.changed;
    if (length > 0) toast.success(`${length} updated from the issuer's list`);
    else toast.info("Nothing has changed at the issuer", { description: `${done.compared} compared.` });
  };
  return (
    <Button size="small" variant="transparent" isLoading={isPending} onClick={() => void compare()}>
      Compare with the issuer
    </Button>
  );
}

/** What can be done about one event. */
export function EventActions({ event }: { event: EventRow }) {
  const { publishEvents, isPending } = usePublishEvents();
  const { mutate: takeBack, isPending: isTaking } = useTakeBack();
  const prompt = usePrompt();
  const keys = [event.key];
  const ask = async (state: "canceled" | "withdrawn") => {
    const isMeant = await prompt({
      ...texts[state],
      description: `${texts[state].description}${event.atIssuer.state === "made" ? ISSUER : ""}`,
      cancelText: "Leave it",
    });
    if (isMeant) takeBack({ keys, state });
  };
  const isPublished = event.state === "published" && !isToBeSent(event);
  return (
    <div className="flex flex-wrap gap-2">
      {isOtherAtIssuer(event) && <CompareButton />}
      {!isPublished && (
        <Button
          size="small"
          variant="secondary"
          isLoading={isPending}
          onClick={() => void publishEvents({ keys })}
        >
          {event.state === "draft" ? "Publish" : "Publish again"}
        </Button>
      )}
      {event.state === "published" && (
        <>
          <Button
            size="small"
            variant="transparent"
            isLoading={isTaking}
            onClick={() => void ask("withdrawn")}
          >
            Withdraw
          </Button>
          <Button
            size="small"
            variant="transparent"
            isLoading={isTaking}
            onClick={() => void ask("canceled")}
          >
            Cancel the show
          </Button>
        </>
      )}
    </div>
  );
}

const ISSUER = " The issuer's interface can't withdraw it: where they don't fetch the feed, write to them.";
const texts = {
  canceled: {
    title: "Cancel the show?",
    description:
      "The feed, calendars and the page say that it isn't held. Nobody is refunded by this: the page Gift cards does that.",
    confirmText: "Cancel the show",
  },
  withdrawn: {
    title: "Withdraw it?",
    description: "The feed says that the shop doesn't show it any more, and it goes from calendars.",
    confirmText: "Withdraw",
  },
} as const;
