import { useSearchParams } from "react-router-dom";
import type { ChargeRow } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { cardName } from "./labels.js";
import { byPayment, groupBy, Parts, type Payment, sumOf, urgentOf } from "./payments.js";
import { OrderLink, Rows, SmallButton, Strong } from "./section.js";

/**
 * Lists payments by card. A click on a row, or on its button, shows everything about its payment.
 * @param props.isByDay puts the payments of each day under its date. Default: shows since when they are in their state
 */
export function PaymentTable(props: { charges: readonly ChargeRow[]; isByDay?: boolean }) {
  const { t, money, time, date, clock } = useTexts();
  const [address, setAddress] = useSearchParams();
  const { charges, isByDay = false } = props;
  const rowOf = (payment: Payment) => {
    const urgent = urgentOf(payment);
    const card = cardName(urgent.lastFour);
    return {
      key: urgent.sessionId,
      className: "cursor-pointer",
      onClick: () => setAddress({ ...Object.fromEntries(address), charge: urgent.reference }, { replace: true }),
      cells: [
        isByDay ? clock(urgent.createdAt) : time(urgent.stateChangedAt),
        <OrderLink key="order" {...urgent} />,
        <button key="card" type="button" className="text-nowrap font-medium" aria-label={t("charges.show", { card })}>
          {card}
        </button>,
        money(sumOf(payment)),
        <div key="parts" className="flex items-center justify-between gap-x-4 py-2">
          <Parts payment={payment} />
          {urgent.state === "needs_attention" && <SmallButton>{t("open.review")}</SmallButton>}
        </div>,
      ],
    };
  };
  const days = groupBy(byPayment(charges), ([{ createdAt }]) => (isByDay ? date(createdAt) : ""));
  return (
    <Rows
      columns={[
        t(isByDay ? "charges.when" : "charges.since"),
        ...[t("common.order"), t("charges.card"), t("charges.amount"), t("charges.state")],
      ]}
      amounts={[3]}
      rows={days.flatMap(([day, payments]) => [
        ...(isByDay ? [{ key: day, className: "bg-ui-bg-subtle", cells: [<Strong key="day">{day}</Strong>] }] : []),
        ...payments.map(rowOf),
      ])}
    />
  );
}
