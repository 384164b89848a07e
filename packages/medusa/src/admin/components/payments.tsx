import { StatusBadge } from "@medusajs/ui";
import type { ReactNode } from "react";
import type { ChargeRow, LineTitles } from "../client/queries.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { codeText, piecesText, reasonText, stateColors, stateText } from "./labels.js";
import { Note, Small } from "./section.js";

/** The charges by which one card pays for an order, in sending order. */
export type Payment = readonly [ChargeRow, ...ChargeRow[]];

type Group<T> = [key: string, members: readonly [T, ...T[]]];

/** Groups in the order of the first members. */
export function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Group<T>[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return [...groups];
}

export const byPayment = (charges: readonly ChargeRow[]): Payment[] =>
  groupBy(charges, ({ sessionId }) => sessionId).map(
    ([, group]) => group.toSorted((a, b) => a.position - b.position) as [ChargeRow],
  );

export const sumOf = (charges: readonly ChargeRow[]): number =>
  charges.reduce((sum, { deductedCents, amountCents }) => sum + (deductedCents ?? amountCents), 0);

/** Finds the charge of a payment that most needs a person. */
export const urgentOf = (payment: Payment): ChargeRow =>
  payment.find(({ state }) => state === "needs_attention") ??
  payment.find(({ state }) => state === "reversing") ??
  payment[0];

/**
 * Shows what became of a payment: its charges by state and reason, with their sums if they differ.
 * @param props.titles shows the tickets and times of each, too
 */
export function Parts(props: { payment: Payment; titles?: LineTitles; action?: (charges: Payment) => ReactNode }) {
  const texts = useTexts();
  const { payment, titles, action } = props;
  const groups = groupBy(payment, ({ state, reason, lastError }) => [state, reason, lastError].join());
  return (
    <div className="flex min-w-[200px] flex-col gap-y-2">
      {groups.map(([key, charges]) => (
        <div key={key} className="flex flex-col gap-y-1">
          <div className="flex flex-wrap items-center gap-x-2">
            <StatusBadge color={stateColors[charges[0].state]} className="text-nowrap">
              {stateText(texts, charges[0].state)}
            </StatusBadge>
            {groups.length > 1 && <Small>{texts.money(sumOf(charges))}</Small>}
            {action?.(charges)}
          </div>
          {notesOf(texts, charges, titles).map((note) => (
            <Note key={note}>{note}</Note>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Explains charges that have the same state and reason. */
function notesOf(texts: Texts, charges: Payment, titles: LineTitles | undefined): string[] {
  const { t, time } = texts;
  const { state, lastError, tries, stateChangedAt, devaluedAt, sentAt, reversedAt } = charges[0];
  const why = reasonText(texts, charges[0]);
  const fault = lastError === null ? "" : t("charge.lastError", { why: codeText(texts, "reasons", lastError) });
  const failed = state === "reversing" ? t("order.tried", { count: tries, since: time(stateChangedAt) }) : "";
  if (!titles) return [`${why} ${fault}`.trim()].filter(Boolean);
  const paid = piecesText(texts, charges, titles);
  const times = { charged: time(devaluedAt ?? sentAt), reversed: time(reversedAt) };
  return [
    paid && t("order.paid", { tickets: paid }),
    t(reversedAt ? "order.chargedAndReversed" : "order.charged", times),
    [why, fault, failed].filter(Boolean).join(" "),
  ].filter(Boolean);
}
