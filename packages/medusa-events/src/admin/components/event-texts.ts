import type { EventRow } from "../client/queries.js";
import en from "../i18n/en.json";
import type { Texts } from "../i18n/use-texts.js";

type BadgeColor = "green" | "red" | "blue" | "orange" | "grey";

/** The color of each state in the feed. */
export const stateColors: Record<EventRow["state"], BadgeColor> = {
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
export function deliveryText({ t }: Texts, event: EventRow): { label: string; color: BadgeColor } {
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
