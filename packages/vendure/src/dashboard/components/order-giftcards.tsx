import { Badge } from "@vendure/dashboard";
import type { ReactNode } from "react";
import { type OrderPayment, useOrderPayment } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";
import { Overcollection } from "./overcollection.js";
import { cardName, Loading, Note } from "./parts.js";

/** Shows on an order's page how gift cards paid it. */
export function OrderGiftcards({ id, code }: { id: string; code: string }) {
  const { t, codeText } = useTexts();
  const { data, error } = useOrderPayment(id, code);
  if (!data) return <Loading error={error} />;
  const payment = data.order?.giftcardPayment;
  if (!payment) return <Note>{t("order.none")}</Note>;
  return (
    <div className="flex flex-col gap-4">
      <div>
        <Badge variant={payment.state === "paid" ? "success" : "secondary"}>
          {codeText("purchaseStates", payment.state)}
        </Badge>
      </div>
      <Amounts payment={payment} />
      <Overcollection purchase={data.giftcardPurchase} />
    </div>
  );
}

type Payment = NonNullable<NonNullable<OrderPayment["order"]>["giftcardPayment"]>;

/** Shows each card's part, once the order is paid, and the remainder. */
function Amounts({ payment }: { payment: Payment }) {
  const { t, money } = useTexts();
  return (
    <ul className="flex flex-col divide-y text-sm">
      {payment.cards.map(({ lastFour, amount, refunded }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cards keep their order, and two can end in the same digits
        <Amount key={index} name={t("charge.title", { card: cardName(lastFour) })} cents={amount}>
          {refunded > 0 && (
            <span className="text-muted-foreground">{t("order.refunded", { amount: money(refunded) })}</span>
          )}
        </Amount>
      ))}
      <Amount name={t("order.remainder")} cents={payment.remainder} />
    </ul>
  );
}

function Amount({ name, cents, children }: { name: string; cents: number; children?: ReactNode }) {
  const { money } = useTexts();
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 py-2">
      <span>{name}</span>
      <span className="flex items-center gap-3">
        {children}
        <span className="font-medium">{money(cents)}</span>
      </span>
    </li>
  );
}
