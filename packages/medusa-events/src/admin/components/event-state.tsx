import { Badge, StatusBadge, Text } from "@medusajs/ui";
import type { EventRow } from "../client/queries.js";
import { deliveryText, differsAtIssuer, eventStateTexts, fieldText, momentText } from "./event-texts.js";

/** Marks a page whose events go to the issuer's sandbox. */
export const SandboxBadge = ({ environment }: { environment?: string | undefined }) =>
  environment === "sandbox" && (
    <Badge size="2xsmall" color="orange">
      Sandbox
    </Badge>
  );

/** An event's state in the feed, and its delivery to the issuer. */
export function EventBadges({ event }: { event: EventRow }) {
  const [inFeed, atIssuer] = [eventStateTexts[event.state], deliveryText(event)];
  return (
    <div className="flex flex-wrap gap-2">
      <StatusBadge color={inFeed.color}>{inFeed.label}</StatusBadge>
      {(event.state !== "draft" || event.delivery.state !== "none") && (
        <StatusBadge color={atIssuer.color}>{atIssuer.label}</StatusBadge>
      )}
    </div>
  );
}

/** An event's faults, its last error, and the differences from the issuer's copy. */
export function EventFacts({ event }: { event: EventRow }) {
  const { faults, delivery } = event;
  const { deliveredAt, lastError, requestedBy, attempts, state } = delivery;
  // A retracted event that was never sent won't be sent: its last error is of no interest.
  const isAwaited = event.state === "published" || state === "sending";
  return (
    <div className="flex flex-col gap-y-1">
      {faults.map(({ field, message }) => (
        <Text key={`${field} ${message}`} size="xsmall" className="text-ui-fg-error">
          {fieldText(field)} {message}.
        </Text>
      ))}
      {deliveredAt && (
        <Text size="xsmall" className="text-ui-fg-subtle">
          At the issuer since {momentText(deliveredAt)}, published by {requestedBy}.
        </Text>
      )}
      {state !== "delivered" && isAwaited && lastError && (
        <Text size="xsmall" className="text-ui-fg-error break-words">
          {lastError} {state === "refused" ? "Fix it and publish it again." : attemptsText(attempts)}
        </Text>
      )}
      {state === "delivered" && !delivery.isListed && (
        <Text size="xsmall" className="text-ui-fg-subtle">
          {event.state === "published"
            ? "The issuer doesn't list it. If they fetch the feed, they add it again automatically. Otherwise publish it again: that never creates a duplicate."
            : "The issuer no longer lists it."}
        </Text>
      )}
      {differsAtIssuer(event) && <Differences delivery={delivery} />}
    </div>
  );
}

function Differences({ delivery: { differences, issuerId } }: Pick<EventRow, "delivery">) {
  return (
    <>
      {differences.map(({ field, sent, now }) => (
        <Text key={`${field} ${sent} ${now}`} size="xsmall" className="text-ui-fg-subtle break-words">
          {fieldText(field)}: the issuer has “{shortened(sent)}”, the shop has “{shortened(now)}”.
        </Text>
      ))}
      <Text size="xsmall" className="text-ui-fg-muted">
        The issuer's interface can't change or withdraw an event. If the issuer fetches the feed, the change arrives
        with it. Otherwise write to them{issuerId === null ? "" : ` about no. ${issuerId}`}.
      </Text>
    </>
  );
}

const attemptsText = (attempts: number): string =>
  attempts > 0
    ? `Tried ${attempts === 1 ? "once" : `${attempts} times`}, and retried automatically.`
    : "It is retried automatically.";

const MAX_LENGTH = 80;
const shortened = (text: string | null): string =>
  text === null ? "nothing" : text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
