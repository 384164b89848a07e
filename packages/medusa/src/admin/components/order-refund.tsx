import type { SplitRefund } from "../../refunds/order-refund.js";
import type { OrderRefund } from "../../refunds/rest-refund.js";
import { useOrderRefund, useRefundOrder } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { partsText, targetOf } from "./labels.js";
import { ActionButton, Note, Small, SumLine } from "./section.js";

/** Shows what the customer owes and what is still to happen, and refunds what the order owes, or all that is left of it. */
export function OrderRefundSections({ orderId }: { orderId: string }) {
  const { t } = useTexts();
  const { data } = useOrderRefund(orderId);
  const refund = data?.refund;
  if (!refund) return null;
  const { dueCents, notCapturedCents, settledCents, awaitsReturn, owedCents, rest } = refund;
  // One button is enough for the same sum.
  const isRestOwed = refund.isPossible && rest?.amountCents === owedCents;
  const states: [isShown: boolean, name: string, note: string, cents?: number][] = [
    [dueCents > 0, t("refund.due"), t("refund.dueHow"), dueCents],
    [notCapturedCents > 0, t("refund.notCaptured"), t("refund.notCapturedHow"), notCapturedCents],
    [settledCents < 0, t("refund.paidOut"), t("refund.settledHow"), -settledCents],
    [settledCents > 0, t("refund.waived"), t("refund.settledHow"), settledCents],
    [awaitsReturn, t("refund.awaitsReturn"), t("refund.awaitsReturnHow")],
  ];
  return (
    <>
      {states.map(
        ([isShown, name, note, cents]) =>
          isShown && (
            <section key={name} aria-label={name} className="flex flex-col gap-y-2 px-6 py-4">
              <SumLine name={name} cents={cents} />
              <Note>{note}</Note>
            </section>
          ),
      )}
      {owedCents > 0 && <Owed orderId={orderId} refund={refund} />}
      {rest && !isRestOwed && <Rest orderId={orderId} refund={refund} rest={rest} />}
    </>
  );
}

/** Shows the amount that an order owes after a return, claim, exchange or edit, its split over the payments, and a Refund button. */
function Owed({ orderId, refund }: { orderId: string; refund: OrderRefund }) {
  const texts = useTexts();
  const { t, money } = texts;
  const { mutate, isPending } = useRefundOrder(orderId);
  const { owedCents, captureCents, splits, isPossible } = refund;
  const captures = captureCents > 0 ? t("refund.captures", { amount: money(captureCents) }) : "";
  const questionOf = ({ amountCents, parts }: SplitRefund) => {
    const gift = amountCents > owedCents ? t("refund.gift", { amount: money(amountCents - owedCents) }) : "";
    const final = t("refund.final", { parts: partsText(texts, parts) });
    const title = t("refund.question", { amount: money(amountCents) });
    return { title, description: `${gift} ${captures} ${final}`.trim(), confirmText: t("refund.confirm") };
  };
  const payout = {
    title: t("refund.payoutQuestion", { amount: money(owedCents) }),
    description: t("refund.payoutHow"),
  };
  return (
    <section aria-label={t("refund.owed")} className="flex flex-col gap-y-3 px-6 py-4">
      <SumLine name={t("refund.owed")} cents={owedCents} />
      {!isPossible && (
        <Note>{splits.length === 0 ? t("refund.impossible") : t("refund.inexact", { amount: money(owedCents) })}</Note>
      )}
      {captures && <Note>{captures}</Note>}
      {splits.map((split) => (
        <div key={split.amountCents} className="flex flex-col gap-y-2">
          {split.parts.map((part) => (
            <div key={part.paymentId} className="flex items-center justify-between">
              <Small>{t("refund.to", { target: targetOf(texts, part) })}</Small>
              <Small>{money(part.cents)}</Small>
            </div>
          ))}
          <ActionButton
            className="self-end"
            variant="primary"
            isLoading={isPending}
            question={questionOf(split)}
            onAct={() => mutate({ ...split, captureCents })}
          >
            {t("refund.asShown", { amount: money(split.amountCents) })}
          </ActionButton>
        </div>
      ))}
      {splits.length > 0 && <Note>{t("refund.instead")}</Note>}
      <ActionButton
        className="self-end"
        variant="transparent"
        isLoading={isPending}
        question={{ ...payout, confirmText: t("refund.payoutConfirm") }}
        onAct={() => mutate({ amountCents: owedCents, isPaidOut: true })}
      >
        {t("refund.payout")}
      </ActionButton>
    </section>
  );
}

/** Offers to refund all that is left of the order, such as if its show is off. */
function Rest({
  orderId,
  refund,
  rest,
}: {
  orderId: string;
  refund: OrderRefund;
  rest: NonNullable<OrderRefund["rest"]>;
}) {
  const texts = useTexts();
  const { t, money, why } = texts;
  const { mutate, isPending } = useRefundOrder(orderId);
  const { captureCents } = refund;
  const { amountCents, parts, isAll } = rest;
  const amount = money(amountCents);
  const kept = [
    t("refund.ofKept"),
    captureCents > 0 ? t("refund.captures", { amount: money(captureCents) }) : "",
    t("refund.final", { parts: partsText(texts, parts) }),
  ];
  return (
    <section className="flex flex-col items-end gap-y-2 px-6 py-3">
      {rest.why !== null && <Note>{why(rest.why)}</Note>}
      <ActionButton
        variant="transparent"
        disabled={rest.why !== null}
        isLoading={isPending}
        question={{
          title: t("refund.question", { amount }),
          description: kept.filter(Boolean).join(" "),
          confirmText: t("refund.confirm"),
          variant: "danger",
        }}
        onAct={() => mutate({ amountCents, parts, captureCents, isRest: true })}
      >
        {t(isAll ? "refund.allAmount" : "refund.restAmount", { amount })}
      </ActionButton>
    </section>
  );
}
