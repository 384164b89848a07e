import type { ChargeState } from "@giftcard-pay/checkout/store";
import type { RefundPart } from "../../refunds/order-books.js";
import type { ChargeRow, LineTitles } from "../client/queries.js";
import en from "../i18n/en.json";
import type { TextKey, Texts } from "../i18n/use-texts.js";

export type BadgeColor = "green" | "red" | "blue" | "orange" | "grey" | "purple";

export const stateColors: Record<ChargeState, BadgeColor> = {
  intent: "blue",
  sent: "blue",
  devalued: "blue",
  committed: "green",
  captured: "green",
  reversing: "orange",
  reversed: "grey",
  refused: "grey",
  unknown: "orange",
  needs_attention: "red",
  taken: "purple",
};

/** Returns the label of a code; the code itself if there is none. */
export const codeText = ({ t }: Texts, group: "reasons" | "jobs.kinds" | "actions", code: string): string =>
  t(`${group}.${code}` as TextKey, { defaultValue: code.replaceAll("_", " ") });

/** Explains why a charge is in its state. */
export function reasonText(texts: Texts, { reason, state }: Pick<ChargeRow, "reason" | "state">): string {
  if (reason === null) return "";
  return codeText(texts, "reasons", reason === "refunded" && state === "reversing" ? "refunding" : reason);
}

/** Explains the error of a job in words if its code is known. The code stays, for support. */
export function faultText(texts: Texts, fault: string): string {
  const [, code = ""] = /^(?:[A-Z]\w*Error )?(\w+)$/.exec(fault) ?? [];
  return code in en.reasons ? `${codeText(texts, "reasons", code)} (${code})` : fault;
}

/** Names who decided: a person's e-mail address without Medusa's id, or an API key. */
export const actorName = ({ t }: Texts, actor: string): string =>
  actor.replace(/ \(\w+\)$/, "").replace(/^api-key /, `${t("health.key")} `);

export const stateText = ({ t }: Texts, state: ChargeState): string => t(`states.${state}`);

/** Returns the name of a payment method: "Stripe" for `pp_stripe_stripe`. */
export function methodName({ t }: Texts, providerId: string): string {
  if (providerId === "pp_system_default") return t("methods.manual");
  const name = providerId.replace(/^pp_/, "").split("_")[0] ?? "";
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export const cardName = (lastFour: string): string => `•••• ${lastFour}`;

/** Names the card or the method that a part of a refund goes to. */
export const targetOf = (
  texts: Texts,
  { lastFour, providerId }: Pick<RefundPart, "lastFour" | "providerId">,
): string => (lastFour === null ? methodName(texts, providerId) : texts.t("refund.card", { card: cardName(lastFour) }));

/** Names parts of a refund, such as `€22.45 to card •••• 1234`. */
export const partsText = (texts: Texts, parts: readonly Pick<RefundPart, "lastFour" | "providerId" | "cents">[]) =>
  parts
    .map((part) => texts.t("refund.part", { amount: texts.money(part.cents), target: targetOf(texts, part) }))
    .join(", ");

/** Names the tickets that charges pay, with their part of each; empty if the card was charged as a whole. */
export function piecesText({ money }: Texts, charges: readonly ChargeRow[], titles: LineTitles): string {
  const lines = new Map<string, { units: number; cents: number }>();
  for (const { line, cents } of charges.flatMap(({ pieces }) => pieces ?? [])) {
    const { units, cents: sum } = lines.get(line) ?? { units: 0, cents: 0 };
    lines.set(line, { units: units + 1, cents: sum + cents });
  }
  const all = [...lines].flatMap(([line, { units, cents }]) => {
    const title = titles[line];
    if (title === undefined) return [];
    return [`${units > 1 ? `${units} × ` : ""}${title} (${money(cents)})`];
  });
  return all.join(", ");
}
