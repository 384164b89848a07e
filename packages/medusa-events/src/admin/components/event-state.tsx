import { Badge, StatusBadge, Text } from "@medusajs/ui";
import type { EventRow } from "../client/queries.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { deliveryText, differsAtIssuer, fieldText, stateColors } from "./event-texts.js";

/** Marks a page whose events go to the issuer's sandbox. */
export function SandboxBadge({ environment }: { environment?: string | undefined }) {
  const { t } = useTexts();
  return (
    environment === "sandbox" && (
      <Badge size="2xsmall" color="orange">
        {t("page.sandbox")}
      </Badge>
    )
  );
}

/** An event's state in the feed, and its delivery to the issuer. */
export function EventBadges({ event }: { event: EventRow }) {
  const texts = useTexts();
  const atIssuer = deliveryText(texts, event);
  return (
    <div className="flex flex-wrap gap-2">
      <StatusBadge color={stateColors[event.state]}>{texts.t(`states.${event.state}`)}</StatusBadge>
      {(event.state !== "draft" || event.delivery.state !== "none") && (
        <StatusBadge color={atIssuer.color}>{atIssuer.label}</StatusBadge>
      )}
    </div>
  );
}

/** An event's faults, its last error, and the differences from the issuer's copy. */
export function EventFacts({ event }: { event: EventRow }) {
  const texts = useTexts();
  const { t, time } = texts;
  const { faults, delivery } = event;
  const { deliveredAt, lastError, requestedBy, attempts, state } = delivery;
  // A retracted event that was never sent won't be sent: its last error is of no interest.
  const isAwaited = event.state === "published" || state === "sending";
  return (
    <div className="flex flex-col gap-y-1">
      {faults.map(({ field, message }) => (
        <Text key={`${field} ${message}`} size="xsmall" className="text-ui-fg-error">
          {t("delivery.fault", { field: fieldText(texts, field), message })}
        </Text>
      ))}
      {deliveredAt && (
        <Text size="xsmall" className="text-ui-fg-subtle">
          {t("delivery.since", { time: time(deliveredAt), person: requestedBy ?? "–" })}
        </Text>
      )}
      {state !== "delivered" && isAwaited && lastError && (
        <Text size="xsmall" className="text-ui-fg-error break-words">
          {lastError} {state === "refused" ? t("delivery.fix") : attemptsText(texts, attempts)}
        </Text>
      )}
      {state === "delivered" && !delivery.isListed && (
        <Text size="xsmall" className="text-ui-fg-subtle">
          {event.state === "published" ? t("delivery.unlisted") : t("delivery.gone")}
        </Text>
      )}
      {differsAtIssuer(event) && <Differences delivery={delivery} />}
    </div>
  );
}

function Differences({ delivery: { differences, issuerId } }: Pick<EventRow, "delivery">) {
  const texts = useTexts();
  const { t } = texts;
  const shortened = (text: string | null) => shortenedText(text ?? t("delivery.nothing"));
  return (
    <>
      {differences.map(({ field, sent, now }) => (
        <Text key={`${field} ${sent} ${now}`} size="xsmall" className="text-ui-fg-subtle break-words">
          {t("delivery.difference", {
            field: fieldText(texts, field),
            theirs: shortened(sent),
            ours: shortened(now),
          })}
        </Text>
      ))}
      <Text size="xsmall" className="text-ui-fg-muted">
        {issuerId === null ? t("delivery.cantChange") : t("delivery.cantChangeAs", { id: String(issuerId) })}
      </Text>
    </>
  );
}

const attemptsText = ({ t }: Texts, attempts: number): string =>
  attempts > 0 ? t("delivery.tried", { count: attempts }) : t("delivery.retried");

const MAX_LENGTH = 80;
const shortenedText = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
