import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE, PROVIDER_ID } from "../names.js";

/** What an order is paid by, read at the moment of the call; of gift cards, the journal decides. */
export interface OrderPayment {
  readonly isCanceled: boolean;
  readonly totalCents: number;
  /** What is authorized or captured, and neither canceled nor refunded. */
  readonly paidCents: number;
  /** What other methods have accepted and settle later. */
  readonly pendingCents: number;
  /** Authorized payments of other methods that nobody has captured. */
  readonly openPaymentIds: readonly string[];
  /** Whatever Medusa thinks is held or taken, cards included: of a canceled order nothing should be. */
  readonly heldPayments: readonly { readonly id: string; readonly isCaptured: boolean }[];
  /** Sessions without a payment: nobody may pay by them any more once the order is given up. */
  readonly openSessionIds: readonly string[];
}

const payments = "payment_collections.payments";
const sessions = "payment_collections.payment_sessions";
const fields = [
  ...["id", "status", "total"],
  ...["id", "provider_id", "amount", "raw_amount", "canceled_at", "captured_at"].map(
    (f) => `${payments}.${f}`,
  ),
  ...["payment_session_id", "refunds.id"].map((f) => `${payments}.${f}`),
  ...["id", "status", "amount", "raw_amount", "payment.id"].map((f) => `${sessions}.${f}`),
];

interface PaymentRow {
  id: string;
  provider_id: string;
  amount: BigNumberInput;
  raw_amount?: BigNumberInput;
  canceled_at: string | null;
  captured_at: string | null;
  payment_session_id: string;
  refunds?: { id: string }[];
}

interface SessionRow {
  id: string;
  status: string;
  amount: BigNumberInput;
  raw_amount?: BigNumberInput;
  payment?: { id: string } | null;
}

interface OrderRow {
  status: string;
  total: BigNumberInput;
  payment_collections?: { payments?: PaymentRow[]; payment_sessions?: SessionRow[] }[];
}

const centsOf = (row: { amount: BigNumberInput; raw_amount?: BigNumberInput }) =>
  toCents(row.raw_amount ?? row.amount);
const sum = (rows: readonly { amount: BigNumberInput; raw_amount?: BigNumberInput }[]) =>
  rows.reduce((total, row) => total + centsOf(row), 0);

/** @returns null when there is no such order (any more) */
export async function readOrderPayment(
  container: MedusaContainer,
  orderId: string,
): Promise<OrderPayment | null> {
  const { engine } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({ entity: "order", fields, filters: { id: orderId } });
  const order = data[0] as unknown as OrderRow | undefined;
  if (!order) return null;
  const collections = order.payment_collections ?? [];
  const unpaidSessions = collections
    .flatMap(({ payment_sessions = [] }) => payment_sessions)
    .filter((session) => !session.payment?.id);
  const isAlive = async (payment: PaymentRow): Promise<boolean> => {
    if (payment.canceled_at || (payment.refunds?.length ?? 0) > 0) return false;
    if (payment.provider_id !== PROVIDER_ID) return true;
    const attempt = await engine.journal.attemptByExternalId(payment.payment_session_id);
    return ["devalued", "committed", "captured"].includes(attempt?.state ?? "");
  };
  const alive: PaymentRow[] = [];
  const all = collections.flatMap(({ payments = [] }) => payments);
  for (const payment of all) {
    if (await isAlive(payment)) alive.push(payment);
  }
  return {
    isCanceled: order.status === "canceled",
    totalCents: toCents(order.total),
    paidCents: sum(alive),
    pendingCents: sum(unpaidSessions.filter((session) => session.status === "pending_authorization")),
    openPaymentIds: alive
      .filter((payment) => payment.provider_id !== PROVIDER_ID && !payment.captured_at)
      .map(({ id }) => id),
    heldPayments: all
      .filter((payment) => !payment.canceled_at && (payment.refunds?.length ?? 0) === 0)
      .map(({ id, captured_at }) => ({ id, isCaptured: captured_at !== null })),
    openSessionIds: unpaidSessions.map(({ id }) => id),
  };
}
