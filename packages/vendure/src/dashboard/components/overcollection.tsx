import { Alert, AlertDescription, AlertTitle } from "@vendure/dashboard";
import { type PurchaseRow, useRefundOvercollection } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";
import { ConfirmedButton, Fault, Outcome } from "./parts.js";

/** Shows the amount that other methods have collected beyond the remainder, and refunds it. */
export function Overcollection({ purchase }: { purchase: PurchaseRow | null }) {
  const { t, money } = useTexts();
  const { mutate, isPending, data, error } = useRefundOvercollection();
  const excess = purchase?.overcollected ?? 0;
  return (
    <>
      <Outcome>{!!data && t("refund.done", { amount: money(data) })}</Outcome>
      <Fault error={error} />
      {purchase && excess > 0 && (
        <Alert variant="destructive">
          <AlertTitle className="line-clamp-none">{t("order.excess", { amount: money(excess) })}</AlertTitle>
          <AlertDescription className="flex flex-col items-start gap-3">
            {t("order.excessAbout")}
            <ConfirmedButton
              label={t("order.refund", { amount: money(excess) })}
              title={t("refund.question", { amount: money(excess) })}
              question={t("order.refundFinal")}
              isBusy={isPending}
              onConfirm={() => mutate(purchase.orderCode)}
            />
          </AlertDescription>
        </Alert>
      )}
    </>
  );
}
