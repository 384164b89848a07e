import { centsSql } from "../../../scripts/shops/whole-cents.mjs";
import { call, isDone, type Scene } from "./call.js";
import type { AdminStep, Step } from "./scenario.js";

/** A payment of an order, read from Medusa's tables. */
interface PaymentRow {
  readonly id: string;
  readonly session_id: string;
  readonly is_gift: boolean;
  readonly cents: number;
  readonly captured: number;
  readonly refunded: number;
}

interface OrderScene extends Scene {
  readonly orderId: string;
}

/** The actions of an admin on the cart's order, by the name of the step. */
const actions: Record<AdminStep, (scene: OrderScene, step: Step) => Promise<unknown>> = {
  capture: (scene, step) => capture(scene, step, () => true),
  "capture bank": (scene, step) => capture(scene, step, (payment) => !payment.is_gift),
  "capture card": (scene, step) => capture(scene, step, (payment) => payment.is_gift),
  async "refund bank"(scene, step) {
    const payment = (await paymentsOf(scene)).find((row) => !row.is_gift && row.captured > row.refunded);
    if (!payment) return;
    const part = 1 + Math.floor(((step.n ?? 50) / 100) * (payment.captured - payment.refunded - 1));
    await refund(scene, step, payment, part, "bank");
  },
  "refund card": refundCard,
  edit,
  async fulfil(scene, step) {
    const items = (await itemsOf(scene, step)).map(({ id, quantity }) => ({ id, quantity }));
    if (items.length === 0) return;
    const body = { items, location_id: scene.stage.locationId };
    await call(scene, step, {
      path: `${orderPath(scene)}/fulfillments`,
      body,
      what: "fulfills everything",
    });
  },
  return: takeBack,
  "give back": giveBack,
  cancel: (scene, step) => call(scene, step, { path: `${orderPath(scene)}/cancel`, what: "cancels the order" }),
  recover,
};

/** Performs a step on the cart's order. If there is no order yet, only `recover` does anything. */
export async function actAsAdmin(scene: Scene, step: Step): Promise<unknown> {
  const name = step.do as AdminStep;
  if (name === "recover") return recover(scene, step);
  const orderId = await orderIdOf(scene);
  return orderId && actions[name]({ ...scene, orderId }, step);
}

/** Reads the id of the cart's order from Medusa's tables, where it appears before the completion is answered. */
export async function orderIdOf({ stage, cart }: Pick<Scene, "stage" | "cart">): Promise<string | undefined> {
  const { rows } = await stage.world.shopBooks.query(
    "select order_id from order_cart where cart_id = $1 and deleted_at is null limit 1",
    [cart.id],
  );
  return rows[0]?.order_id;
}

const orderPath = ({ orderId }: OrderScene) => `/admin/orders/${orderId}`;

async function paymentsOf({ stage, orderId }: OrderScene): Promise<PaymentRow[]> {
  const { rows } = await stage.world.shopBooks.query(
    `select p.id, p.payment_session_id as session_id, p.provider_id = 'pp_giftcard_giftcard' as is_gift, ${centsSql("p.amount")} as cents,
       (select coalesce(${centsSql("sum(amount)")}, 0) from capture where payment_id = p.id and deleted_at is null) as captured,
       (select coalesce(${centsSql("sum(amount)")}, 0) from refund where payment_id = p.id and deleted_at is null) as refunded
     from payment p join order_payment_collection link on link.payment_collection_id = p.payment_collection_id
     where link.order_id = $1 and link.deleted_at is null and p.canceled_at is null and p.deleted_at is null order by p.id`,
    [orderId],
  );
  return rows;
}

async function capture(scene: OrderScene, step: Step, isMeant: (payment: PaymentRow) => boolean): Promise<void> {
  const open = (await paymentsOf(scene)).filter((row) => row.captured === 0 && isMeant(row));
  for (const { id, is_gift, cents } of open) {
    const what = `captures ${euro(cents)} of the ${is_gift ? "card" : "bank"}`;
    await call(scene, step, { path: `/admin/payments/${id}/capture`, what });
  }
}

function refund(scene: OrderScene, step: Step, { id }: PaymentRow, cents: number, of: string): Promise<unknown> {
  const note = (step.n ?? 0) % 2 === 1 ? "by hand" : undefined;
  const body = { amount: cents / 100, note };
  const what = `refunds ${euro(cents)} of the ${of}${note ? ", with a note" : ""}`;
  return call(scene, step, { path: `/admin/payments/${id}/refund`, body, what });
}

/** Refunds some or all charges of a card's payment, or at times an amount that no charges add up to. */
async function refundCard(scene: OrderScene, step: Step): Promise<void> {
  const n = step.n ?? 0;
  const gifts = (await paymentsOf(scene)).filter((row) => row.is_gift && row.cents > row.refunded);
  const captured = gifts.filter((row) => row.captured > row.refunded);
  const payment = captured[n % Math.max(captured.length, 1)] ?? gifts[0];
  if (!payment) return;
  const { rows } = await scene.stage.world.shopBooks.query(
    "select amount_cents from giftcard_charge where external_id = $1 and refund_id is null order by position",
    [payment.session_id],
  );
  const left: number[] = rows.map(({ amount_cents }) => amount_cents);
  const leftCents = payment.cents - payment.refunded;
  const some = left.filter((_, index) => (n >> (index % 6)) % 2 === 1);
  const ways = [leftCents, Math.ceil(leftCents / 2), left[0] ?? leftCents];
  const asked = ways[n % 7] ?? some.reduce((sum, cents) => sum + cents, 0);
  await refund(scene, step, payment, asked || leftCents, "card");
}

/** Refunds what the order owes, by one of the splits that the plugin offers. */
async function giveBack(scene: OrderScene, step: Step): Promise<void> {
  const path = `/admin/giftcard-pay/orders/${scene.orderId}/refund`;
  const asked = await call(scene, step, { method: "GET", path, what: "asks what the order owes" });
  const { owedCents = 0, splits = [] } = asked?.body?.refund ?? {};
  if (splits.length === 0) return;
  const split = splits[(step.n ?? 0) % splits.length];
  const given = split.parts.map(({ cents, lastFour }: { cents: number; lastFour: string | null }) => {
    return `${euro(cents)} to ${lastFour === null ? "the bank" : "a card"}`;
  });
  const what = `refunds ${given.join(", ")} of ${euro(owedCents)} owed`;
  await call(scene, step, { path, body: split, what, gaveCents: split.amountCents });
}

async function itemsOf(scene: OrderScene, step: Step): Promise<{ id: string; quantity: number }[]> {
  const path = `${orderPath(scene)}?fields=id,*items`;
  const answer = await call(scene, step, { method: "GET", path, what: "looks at the order" });
  return answer?.body?.order?.items ?? [];
}

/** Changes the quantity of an item: more, fewer or none. */
async function edit(scene: OrderScene, step: Step): Promise<void> {
  const items = await itemsOf(scene, step);
  const item = items[(step.n ?? 0) % Math.max(items.length, 1)];
  if (!item) return;
  const quantity = (step.n ?? 0) % 4;
  const path = `/admin/order-edits/${scene.orderId}`;
  const begun = await call(scene, step, {
    ...{ path: "/admin/order-edits", body: { order_id: scene.orderId } },
    what: "begins to edit the order",
  });
  if (!isDone(begun)) return;
  const what = `edits the order: ${quantity} instead of ${item.quantity}`;
  await call(scene, step, { path: `${path}/items/item/${item.id}`, body: { quantity }, what });
  await call(scene, step, { path: `${path}/confirm`, what: "confirms the edit" });
}

/** Returns one to three units of an item. Medusa refuses units that are not fulfilled. */
async function takeBack(scene: OrderScene, step: Step): Promise<void> {
  const n = step.n ?? 0;
  const all = await itemsOf(scene, step);
  const item = all[n % Math.max(all.length, 1)];
  if (!item) return;
  const body = { order_id: scene.orderId, location_id: scene.stage.locationId };
  const begun = await call(scene, step, { path: "/admin/returns", body, what: "begins a return" });
  const path = `/admin/returns/${begun?.body?.return?.id}`;
  if (!isDone(begun)) return;
  const items = { items: [{ id: item.id, quantity: 1 + (n % Math.min(item.quantity, 3)) }] };
  for (const [end, sent] of [
    ...([["request-items", items], ["request"], ["receive"]] as const),
    ...([["receive-items", items], ["receive/confirm"]] as const),
  ]) {
    const answer = await call(scene, step, { path: `${path}/${end}`, body: sent, what: `return: ${end}` });
    if (!isDone(answer)) return;
  }
}

function recover(scene: Scene, step: Step): Promise<unknown> {
  return call(scene, step, { path: "/admin/giftcard-pay/recover", what: "runs recovery" });
}

export const euro = (cents: number) => (cents / 100).toFixed(2);
