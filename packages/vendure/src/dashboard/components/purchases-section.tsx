import { Badge, Button, PermissionGuard } from "@vendure/dashboard";
import { type PurchaseRow, useMarkRemainderSettled, usePurchases, useRetryPurchase } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";
import { Overcollection } from "./overcollection.js";
import { ConfirmedButton, Fact, Facts, Fault, Loading, Note, OrderLink, Outcome } from "./parts.js";

/** Lists the orders whose payment isn't settled. */
export function PurchasesSection() {
  const { t } = useTexts();
  const { data, error } = usePurchases();
  const purchases = data?.giftcardPurchases.items ?? [];
  if (!data) return <Loading error={error} />;
  return (
    <div className="flex flex-col gap-4">
      <Note>{t(purchases.length === 0 ? "purchases.none" : "purchases.about")}</Note>
      <ul className="flex flex-col divide-y">
        {purchases.map((purchase) => (
          <li key={purchase.orderCode} className="py-3 first:pt-0 last:pb-0">
            <Unsettled purchase={purchase} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Unsettled({ purchase }: { purchase: PurchaseRow }) {
  const { t, money, codeText } = useTexts();
  const { mutate, isPending, isSuccess, data, error } = useRetryPurchase();
  const settle = useMarkRemainderSettled();
  const { orderCode, state, total, remainder, tries, lastError } = purchase;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="flex flex-wrap items-center gap-4 text-sm font-medium">
          <OrderLink {...purchase} />
          <Badge variant="secondary">{codeText("purchaseStates", state)}</Badge>
        </div>
        {lastError && (
          <PermissionGuard requires={["WriteGiftcards"]}>
            <Button type="button" variant="outline" size="sm" disabled={isPending} onClick={() => mutate(orderCode)}>
              {t("purchases.retry")}
            </Button>
          </PermissionGuard>
        )}
      </div>
      <Facts>
        <Fact name={t("purchases.total")}>{money(total)}</Fact>
        <Fact name={t("purchases.remainder")}>{money(remainder)}</Fact>
        <Fact name={t("purchases.tries")}>{tries}</Fact>
        {lastError && <Fact name={t("purchases.error")}>{codeText("reasons", lastError)}</Fact>}
      </Facts>
      {lastError?.startsWith("cancel:") && (
        <ConfirmedButton
          label={t("purchases.settle")}
          title={t("purchases.settleTitle")}
          question={t("purchases.settleQuestion")}
          isBusy={settle.isPending}
          onConfirm={() => settle.mutate(orderCode)}
        />
      )}
      <Outcome>{isSuccess && data === null && t("purchases.settled")}</Outcome>
      <Fault error={error ?? settle.error} />
      <Overcollection purchase={purchase} />
    </div>
  );
}
