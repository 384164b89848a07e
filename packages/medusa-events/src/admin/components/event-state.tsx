import { Badge, StatusBadge, Text } from "@medusajs/ui";
import type { EventRow } from "../client/queries.js";
import en from "../i18n/en.json";
import { type Texts, useTexts } from "../i18n/use-texts.js";

type BadgeColor = "green" | "red" | "blue" | "orange" | "grey";

/** The color of each state in the feed. */
const stateColors: Record<EventRow["state"], BadgeColor> = {
  draft: "grey",
  published: "green",
  canceled: "red",
  withdrawn: "orange",
};

/** Returns whether the issuer's copy of a delivered event differs: changed, missing from the list, or listed only there. */
export function differsAtIssuer({ delivery, state }: EventRow): boolean {
  if (delivery.state !== "delivered") return false;
  const isPublished = state === "published";
  return isPublished !== delivery.isListed || (isPublished && delivery.differences.length > 0);
}

/** Returns whether the issuer lacks a published event, and only a person can have it sent. */
export const needsPublishing = ({ delivery, state }: EventRow): boolean =>
  state === "published" &&
  (["none", "refused"].includes(delivery.state) || (delivery.state === "delivered" && !delivery.isListed));

/** Returns the label of an event's delivery. */
function deliveryText({ t }: Texts, event: EventRow): { label: string; color: BadgeColor } {
  const { delivery, state } = event;
  const { issuerId, lastError, isListed } = delivery;
  if (delivery.state === "refused") return { label: t("delivery.refused"), color: "red" };
  if (delivery.state === "delivered") {
    const name = issuerId === null ? t("delivery.delivered") : t("delivery.deliveredAs", { id: String(issuerId) });
    const label = t("delivery.notListed", { name });
    if (!isListed) return { label, color: state === "published" ? "orange" : "grey" };
    if (differsAtIssuer(event)) return { label: t("delivery.changed", { name }), color: "orange" };
    return { label: name, color: "green" };
  }
  if (delivery.state === "sending") return { label: t("delivery.sending"), color: "orange" };
  if (delivery.state === "pending" && state === "published")
    return lastError
      ? { label: t("delivery.notSent"), color: "orange" }
      : { label: t("delivery.onItsWay"), color: "blue" };
  return { label: t("delivery.none"), color: "grey" };
}

type Field = keyof typeof en.fields;

/** Returns the label of a field, by its name in the model. */
export function fieldText({ t }: Texts, field: string): string {
  const key = field.replace(".", "_");
  return key in en.fields ? t(`fields.${key as Field}`) : field;
}

/** Formats a time at the venue. */
export const venueTimeText = ({ t, venueTime }: Texts, local: string): string => venueTime(local) || t("dates.none");

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
