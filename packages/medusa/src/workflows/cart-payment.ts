import { type CartView, CheckoutError } from "@giftcard-pay/checkout";
import type { BigNumberInput, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { COVERED_CENTS, GIFTCARD_MODULE, PROVIDER_ID } from "../names.js";

/** A payment session of the cart's collection, as far as the flow looks at it. */
export interface SessionView {
  readonly id: string;
  readonly provider_id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly metadata: Record<string, unknown> | null;
  readonly payment: { id: string; captured_at: string | null; canceled_at: string | null } | null;
}

/** A cart and its payment, read at the moment of the call. */
export interface CartPayment {
  readonly cart: CartView;
  /** Medusa's own total; it may hold fractions of a cent. */
  readonly rawTotal: BigNumberInput;
  readonly isEuro: boolean;
  readonly isCompleted: boolean;
  readonly collectionId: string | null;
  /** Gift card sessions, which only the plugin makes. */
  readonly giftSessions: readonly SessionView[];
  /** Sessions of other methods that can still be authorized, or are. */
  readonly otherSessions: readonly SessionView[];
  /** Sessions that can't be paid by any more; Medusa would take one whose payment was undone for paid. */
  readonly deadSessions: readonly SessionView[];
}

const processable = ["pending", "requires_more", "authorized", "captured", "pending_authorization"];

interface SessionRow {
  collection_id: string;
  id: string | null;
  provider_id: string;
  status: string;
  raw_amount: BigNumberInput;
  metadata: Record<string, unknown> | null;
  payment_id: string | null;
  captured_at: string | null;
  canceled_at: string | null;
}

interface CartRow {
  id: string;
  currency_code: string;
  total: BigNumberInput;
  raw_total?: BigNumberInput;
  completed_at?: string | Date | null;
}

/** @throws {CheckoutError} cart_not_found */
export async function readCartPayment(container: MedusaContainer, cartId: string): Promise<CartPayment> {
  const select = ["id", "currency_code", "completed_at", "total", "raw_total"] as never[];
  const [carts, sessions] = await Promise.all([
    container.resolve(Modules.CART).listCarts({ id: cartId }, { select, take: 1 }),
    readSessions(container, cartId),
  ]);
  const row = carts[0] as CartRow | undefined;
  if (!row) throw new CheckoutError("cart_not_found");
  const rawTotal = row.raw_total ?? row.total;
  const due = { rawTotal, currency: row.currency_code, isCompleted: Boolean(row.completed_at) };
  return toCartPayment(cartId, due, sessions);
}

/**
 * The same within a completion, with the cart's orders. What is to be paid is the order, once it was placed: so its own
 * total counts then, and the cart's isn't added up once more.
 */
export async function readCompletion(
  container: MedusaContainer,
  cartId: string,
): Promise<{ payment: CartPayment; orderIds: string[] }> {
  const [orders, sessions] = await Promise.all([
    readPlacedOrders(container, cartId),
    readSessions(container, cartId),
  ]);
  const orderIds = orders.map((order) => order.order_id);
  const [placed] = orders;
  if (!placed?.raw_total || orders.length > 1)
    return { payment: await readCartPayment(container, cartId), orderIds };
  const due = { rawTotal: placed.raw_total, currency: placed.currency_code, isCompleted: true };
  return { payment: toCartPayment(cartId, due, sessions), orderIds };
}

interface PlacedOrder {
  order_id: string;
  currency_code: string;
  raw_total: BigNumberInput | null;
}

/** The cart's orders, with their totals as they were placed: this very completion did it. */
async function readPlacedOrders(container: MedusaContainer, cartId: string): Promise<PlacedOrder[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = await runSql(
    `select l.order_id, o.currency_code, s.totals -> 'raw_current_order_total' as raw_total
     from order_cart l left join "order" o on o.id = l.order_id
     left join order_summary s on s.order_id = o.id and s.version = o.version and s.deleted_at is null
     where l.cart_id = $1 and l.deleted_at is null`,
    [cartId],
  );
  return rows as unknown as PlacedOrder[];
}

function toCartPayment(
  id: string,
  due: Pick<CartPayment, "rawTotal" | "isCompleted"> & { currency: string },
  { collectionId, sessions }: Awaited<ReturnType<typeof readSessions>>,
): CartPayment {
  const { rawTotal, currency, isCompleted } = due;
  const isDead = ({ status, payment }: SessionView) =>
    Boolean(payment?.canceled_at) || !processable.includes(status);
  return {
    cart: { id, totalCents: toCents(rawTotal), currency },
    rawTotal,
    isEuro: String(currency).toLowerCase() === "eur",
    isCompleted,
    collectionId,
    giftSessions: sessions.filter((s) => s.provider_id === PROVIDER_ID && !isDead(s)),
    otherSessions: sessions.filter((s) => s.provider_id !== PROVIDER_ID && !isDead(s)),
    deadSessions: sessions.filter(isDead),
  };
}

/** One statement, where Medusa's query asks four modules one after the other: a completion waits for it. */
async function readSessions(
  container: MedusaContainer,
  cartId: string,
): Promise<{ collectionId: string | null; sessions: SessionView[] }> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const rows = (await runSql(
    `select c.id as collection_id, s.id, s.provider_id, s.status, s.raw_amount, s.metadata,
       p.id as payment_id, p.captured_at, p.canceled_at
     from cart_payment_collection l
     join payment_collection c on c.id = l.payment_collection_id and c.deleted_at is null
     left join payment_session s on s.payment_collection_id = c.id and s.deleted_at is null
     left join payment p on p.payment_session_id = s.id and p.deleted_at is null
     where l.cart_id = $1 and l.deleted_at is null order by s.created_at, s.id`,
    [cartId],
  )) as unknown as SessionRow[];
  return { collectionId: rows[0]?.collection_id ?? null, sessions: rows.flatMap(toSessions) };
}

/** The providers that the cart's region enables. */
export async function providersOfCart(container: MedusaContainer, cartId: string): Promise<string[]> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "cart",
    fields: ["region.payment_providers.id"],
    filters: { id: cartId },
  });
  const cart = data[0] as { region?: { payment_providers?: ({ id: string } | null)[] } | null } | undefined;
  return (cart?.region?.payment_providers ?? []).flatMap((provider) => provider?.id ?? []);
}

/** How gift cards concern a cart, for a quick decision; whatever moves money reads again. */
export interface CartStanding {
  /** False where no card was ever applied: then no session, payment or order of the cart is the plugin's. */
  readonly hadCards: boolean;
  /** Cards are applied now. */
  readonly hasCards: boolean;
  /** Nothing of an earlier completion is left, and the one session is that of a remainder. */
  readonly isReady: boolean;
}

/** Reads a cart's standing in one statement. */
export async function readStanding(container: MedusaContainer, cartId: string): Promise<CartStanding> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const [row] = await runSql(
    `with tender as (select state from giftcard_tender where cart_id = $1),
     session as (
       select s.provider_id, s.status, (s.metadata ->> '${COVERED_CENTS}')::integer as covered_cents, p.canceled_at
       from cart_payment_collection l
       join payment_session s on s.payment_collection_id = l.payment_collection_id and s.deleted_at is null
       left join payment p on p.payment_session_id = s.id and p.deleted_at is null
       where l.cart_id = $1 and l.deleted_at is null
     )
     select exists (select 1 from tender) as had_cards,
       exists (select 1 from tender where state in ('applied', 'charging')) as has_cards,
       not exists (select 1 from tender where state = 'charging')
         and exists (select 1 from cart where id = $1 and completed_at is null and deleted_at is null)
         and not exists (select 1 from order_cart where cart_id = $1 and deleted_at is null)
         and (select count(*) = 1 and bool_and(
           provider_id <> $2 and status = any($3::text[]) and covered_cents > 0 and canceled_at is null
         ) from session) as is_ready`,
    [cartId, PROVIDER_ID, processable],
  );
  return {
    hadCards: row?.had_cards === true,
    hasCards: row?.has_cards === true,
    isReady: row?.is_ready === true,
  };
}

/** The order that the cart became, or several while processes complete it at once, which ends with one or none. */
export async function ordersOfCart(container: MedusaContainer, cartId: string): Promise<string[]> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const statement = "select order_id from order_cart where cart_id = $1 and deleted_at is null";
  return (await runSql(statement, [cartId])).map((row) => String(row.order_id));
}

function toSessions(row: SessionRow): SessionView[] {
  const { id, provider_id, status, metadata, raw_amount, payment_id, captured_at, canceled_at } = row;
  if (id === null) return [];
  const payment = payment_id === null ? null : { id: payment_id, captured_at, canceled_at };
  return [{ id, provider_id, status, metadata, amountCents: toCents(raw_amount), payment }];
}

/**
 * The order that the cart became, if its payments, this session's among them, were all authorized, or may settle later
 * by the option; or null. A completion that died before that left an order that nobody paid.
 */
export async function paidOrderOfCart(
  container: MedusaContainer,
  cartId: string,
  sessionId: string,
): Promise<string | null> {
  const [orderId, ...others] = await ordersOfCart(container, cartId);
  if (!orderId || others.length > 0) return null;
  const { settings } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const { cart, giftSessions, otherSessions } = await readCartPayment(container, cartId);
  const isPaid = ({ payment, status }: SessionView) =>
    payment !== null || (settings.allowPendingRemainder && status === "pending_authorization");
  const paid = [...giftSessions, ...otherSessions].filter(isPaid);
  const paidCents = paid.reduce((sum, session) => sum + session.amountCents, 0);
  return paid.some((session) => session.id === sessionId) && paidCents >= cart.totalCents ? orderId : null;
}
