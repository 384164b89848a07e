import { StatusBadge, Text } from "@medusajs/ui";
import type { EventRow } from "../client/event-queries.js";
import { eventStateTexts, fieldText, isOtherAtIssuer, issuerText } from "./event-texts.js";
import { time } from "./texts.js";

/** What an event is in the feed, and at the issuer. */
export function EventBadges({ event }: { event: EventRow }) {
  const [inFeed, atIssuer] = [eventStateTexts[event.state], issuerText(event)];
  return (
    <div className="flex flex-wrap gap-2">
      <StatusBadge color={inFeed.color}>{inFeed.label}</StatusBadge>
      {(event.state !== "draft" || event.atIssuer.state !== "none") && (
        <StatusBadge color={atIssuer.color}>{atIssuer.label}</StatusBadge>
      )}
    </div>
  );
}

/** What is missing, what failed, and what the issuer has otherwise. */
export function EventFacts({ event }: { event: EventRow }) {
  const { faults, atIssuer } = event;
  const { madeAt, lastError, differences, askedBy, tries } = atIssuer;
  const isThere = atIssuer.state === "made";
  // What is taken back before it was sent isn't sent any more.
  const isAwaited = event.state === "published" || atIssuer.state === "sending";
  const isOther = isOtherAtIssuer(event);
  return (
    <div className="flex flex-col gap-y-1">
      {faults.map(({ field, message }) => (
        <Text key={`${field} ${message}`} size="xsmall" className="text-ui-fg-error">
          {fieldText(field)} {message}.
        </Text>
      ))}
      {madeAt && (
        <Text size="xsmall" className="text-ui-fg-subtle">
          At the issuer since {time(madeAt)}, published by {askedBy?.replace(/ \(.*\)$/, "")}.
        </Text>
      )}
      {!isThere && isAwaited && lastError && (
        <Text size="xsmall" className="text-ui-fg-error break-words">
          {lastError} {atIssuer.state === "refused" ? "Mend it and publish it again." : triesText(tries)}
        </Text>
      )}
      {isThere && !atIssuer.isListed && (
        <Text size="xsmall" className="text-ui-fg-subtle">
          The issuer doesn't list it
          {event.state === "published"
            ? ". The feed brings it back where they fetch that; or publish it again: it is there once, however often it is sent."
            : " any more."}
        </Text>
      )}
      {isOther &&
        differences.map(({ field, sent, now }) => (
          <Text key={field} size="xsmall" className="text-ui-fg-subtle break-words">
            {fieldText(field)}: the issuer has “{shortened(sent)}”, it is “{shortened(now)}” now.
          </Text>
        ))}
      {isOther && (
        <Text size="xsmall" className="text-ui-fg-muted">
          The issuer's interface can't change or withdraw an event. The feed tells it; where the issuer
          doesn't fetch that, write to them
          {atIssuer.issuerId === null ? "" : ` about no. ${atIssuer.issuerId}`}.
        </Text>
      )}
    </div>
  );
}

const triesText = (tries: number): string =>
  `${tries > 0 ? `Tried ${tries === 1 ? "once" : `${tries} times`}; it` : "It"} goes on by itself.`;

const LONGEST = 80;
const shortened = (text: string | null): string =>
  text === null ? "nothing" : text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
