import { convertToLocale } from "@lib/util/money";

type Totals = { total?: number | null; currency_code: string };

const CartTotals = ({ totals }: { totals: Totals }) => (
  <p>Total {convertToLocale({ amount: totals.total ?? 0, currency_code: totals.currency_code })}</p>
);

export default CartTotals;
