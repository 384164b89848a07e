import { Button, usePrompt } from "@medusajs/ui";
import type { SplitRefund } from "../../refunds/order-refund.js";
import type { OrderRefund } from "../../refunds/rest-refund.js";
import { useOrderRefund, useRefundOrder } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { partsText, targetOf } from "./labels.js";
import { Note, Small, SmallButton, SumLine } from "./section.js";

/** Shows what the customer owes and what is still to happen, and refunds what the order owes, or all that is left of it. */
export function OrderRefundSections({ orderId }: { orderId: string }) {
  const { t } = useTexts();
  const { data } = useOrderRefund(orderId);
  const refund = data?.refund;
  if (!refund) return null;
  const { dueCents, notCapturedCents, settledCents, awaitsReturn } = refund;
  return (
    <>
      {dueCents > 0 && <State name={t("refund.due")} cents={dueCents} note={t("refund.dueHow")} />}
      {notCapturedCents > 0 && (
        <State name={t("refund.notCaptured")} cents={notCapturedCents} note={t("refund.notCapturedHow")} />
      )}
      {settledCents < 0 && <State name={t("refund.paidOut")} cents={-settledCents} note={t("refund.settledHow")} />}
      {settledCents > 0 && <State name={t("refund.waived")} cents={settledCents} note={t("refund.settledHow")} />}
      {awaitsReturn && <State name={t("refund.awaitsReturn")} note={t("refund.awaitsReturnHow")} />}
      {refund.owedCents > 0 && <Owed orderId={orderId} refund={refund} />}
      {refund.rest && <Rest orderId={orderId} refund={refund} rest={refund.rest} />}
    </>
  );
}

/** Asks for confirmation, then refunds, or records that a person has paid out what is owed. */
function useConfirmedRefund(orderId: string, { captureCents, owedCents }: OrderRefund) {
  const texts = useTexts();
  const { t, money } = texts;
  const { mutateAsync, isPending } = useRefundOrder(orderId);
  const prompt = usePrompt();
  async function refund(split: SplitRefund, isRest = false): Promise<void> {
    const { amountCents, parts } = split;
    const notes = [
      ...(isRest ? [t("refund.ofKept")] : []),
      ...(!isRest && amountCents > owedCents ? [t("refund.gift", { amount: money(amountCents - owedCents) })] : []),
      ...(captureCents > 0 ? [t("refund.captures", { amount: money(captureCents) })] : []),
    ];
    const isConfirmed = await prompt({
      title: t("refund.question", { amount: money(amountCents) }),
      description: [...notes, t("refund.final", { parts: partsText(texts, parts) })].join(" "),
      confirmText: t("refund.confirm"),
      cancelText: t("common.cancel"),
      variant: isRest ? "danger" : "confirmation",
    });
    if (!isConfirmed) return;
    await mutateAsync({ amountCents, parts, captureCents, ...(isRest && { isRest }) }).catch(() => null);
  }
  async function recordPayout(): Promise<void> {
    const isConfirmed = await prompt({
      title: t("refund.payoutQuestion", { amount: money(owedCents) }),
      description: t("refund.payoutHow"),
      confirmText: t("refund.payoutConfirm"),
      cancelText: t("common.cancel"),
      variant: "confirmation",
    });
    if (isConfirmed) await mutateAsync({ amountCents: owedCents, isPaidOut: true }).catch(() => null);
  }
  return { refund, recordPayout, isPending };
}

/** Shows a state of the order's money, and what it means. */
function State({ name, cents, note }: { name: string; cents?: number; note: string }) {
  return (
    <section aria-label={name} className="flex flex-col gap-y-2 px-6 py-4">
      <SumLine name={name} cents={cents} />
      <Note>{note}</Note>
    </section>
  );
}

/** Shows the amount that an order owes after a return, claim, exchange or edit, its split over the payments, and a Refund button. */
function Owed({ orderId, refund }: { orderId: string; refund: OrderRefund }) {
  const texts = useTexts();
  const { t, money } = texts;
  const { refund: make, recordPayout, isPending } = useConfirmedRefund(orderId, refund);
  return (
    <section aria-label={t("refund.owed")} className="flex flex-col gap-y-3 px-6 py-4">
      <SumLine name={t("refund.owed")} cents={refund.owedCents} />
      {!refund.isPossible && (
        <Note>
          {refund.splits.length === 0
            ? t("refund.impossible")
            : t("refund.inexact", { amount: money(refund.owedCents) })}
        </Note>
      )}
      {refund.captureCents > 0 && <Note>{t("refund.captures", { amount: money(refund.captureCents) })}</Note>}
      {refund.splits.map((split) => (
        <div key={split.amountCents} className="flex flex-col gap-y-2">
          {split.parts.map((part) => (
            <div key={part.paymentId} className="flex items-center justify-between">
              <Small>{t("refund.to", { target: targetOf(texts, part) })}</Small>
              <Small>{money(part.cents)}</Small>
            </div>
          ))}
          <SmallButton className="self-end" isLoading={isPending} onClick={() => void make(split)}>
            {t("refund.amount", { amount: money(split.amountCents) })}
          </SmallButton>
        </div>
      ))}
      <Button
        className="self-end"
        size="small"
        variant="transparent"
        isLoading={isPending}
        onClick={() => void recordPayout()}
      >
        {t("refund.payout")}
      </Button>
    </section>
  );
}

type RestRefund = NonNullable<OrderRefund["rest"]>;

/** Offers to refund all that is left of the order, such as if its show is off. */
function Rest({ orderId, refund, rest }: { orderId: string; refund: OrderRefund; rest: RestRefund }) {
  const { t, money, why } = useTexts();
  const { refund: make, isPending } = useConfirmedRefund(orderId, refund);
  return (
    <section aria-label={t("refund.rest")} className="flex flex-col items-end gap-y-2 px-6 py-3">
      {rest.why !== null && <Note>{why(rest.why)}</Note>}
      <Button
        size="small"
        variant="transparent"
        disabled={rest.why !== null}
        isLoading={isPending}
        onClick={() => void make(rest, true)}
      >
        {t("refund.restAmount", { amount: money(rest.amountCents) })}
      </Button>
    </section>
  );
}
