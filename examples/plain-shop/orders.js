/** The shop's own tables: sessions with their carts, and orders. The checkout's tables contain the payments. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

/** Prices in cents. */
export const products = [
  { id: "festival-pair", title: "Summer Night Festival, two tickets", priceCents: 7498 },
  { id: "cinema", title: "Open-air Cinema", priceCents: 2000 },
  { id: "weekend", title: "Weekend at the Dunes", priceCents: 12000 },
  { id: "drink", title: "Drink at the Bar", priceCents: 500 },
];

const schema = `
  pragma journal_mode = wal; pragma busy_timeout = 5000; pragma foreign_keys = on;
  create table if not exists shop_cart (
    id text primary key, session_hash text not null, order_id text unique, created_at integer not null
  ) strict;
  create index if not exists shop_cart_session on shop_cart (session_hash);
  create table if not exists shop_line (
    cart_id text not null references shop_cart (id), product_id text not null,
    quantity integer not null check (quantity between 1 and 99), primary key (cart_id, product_id)
  ) strict;
  create table if not exists shop_order (
    id text primary key, cart_id text not null references shop_cart (id), total_cents integer not null,
    lines text not null, placed_at integer not null
  ) strict`;

/** @typedef {{ id: string, title: string, quantity: number, amountCents: number }} Line */
/** @typedef {{ id: string, orderId: string | null, lines: Line[], totalCents: number }} Cart */
/** @typedef {{ id: string, cartId: string, totalCents: number, lines: Line[], placedAt: number }} Order */

/** A session is a random string in a cookie. Only its hash is stored. */
export const newSession = () => randomBytes(32).toString("base64url");
/** @param {string} session */
const hashOf = (session) => createHash("sha256").update(session).digest("hex");

/** @param {string} file the SQLite file, which the checkout's store may share */
export function openOrders(file) {
  const database = new DatabaseSync(file);
  database.exec(schema);
  /** @typedef {[sql: string, ...values: (string | number)[]]} Query */
  const one = (/** @type {Query} */ ...[sql, ...values]) => database.prepare(sql).get(...values);
  const all = (/** @type {Query} */ ...[sql, ...values]) => database.prepare(sql).all(...values);
  const run = (/** @type {Query} */ ...[sql, ...values]) => database.prepare(sql).run(...values);

  /** @param {string} cartId @returns {Line[]} */
  const linesOf = (cartId) =>
    all("select product_id, quantity from shop_line where cart_id = ? order by rowid", cartId).flatMap((row) => {
      const product = products.find(({ id }) => id === row.product_id);
      const quantity = Number(row.quantity);
      if (!product) return [];
      const { id, title, priceCents } = product;
      return [{ id, title, quantity, amountCents: priceCents * quantity }];
    });
  /** @param {Record<string, unknown> | undefined} row @returns {Order | null} */
  const toOrder = (row) =>
    row
      ? {
          id: String(row.id),
          cartId: String(row.cart_id),
          totalCents: Number(row.total_cents),
          lines: JSON.parse(String(row.lines)),
          placedAt: Number(row.placed_at),
        }
      : null;

  return {
    close: () => database.close(),
    /** The session's latest cart. @param {string} session @returns {Cart | null} */
    cart(session) {
      const row = one(
        "select id, order_id from shop_cart where session_hash = ? order by created_at desc, rowid desc limit 1",
        hashOf(session),
      );
      if (!row) return null;
      const lines = linesOf(String(row.id));
      const totalCents = lines.reduce((sum, line) => sum + line.amountCents, 0);
      return { id: String(row.id), orderId: /** @type {string | null} */ (row.order_id), lines, totalCents };
    },
    /** @param {string} session @returns {string} */
    newCart(session) {
      const id = randomUUID();
      run("insert into shop_cart (id, session_hash, created_at) values (?, ?, ?)", id, hashOf(session), Date.now());
      return id;
    },
    /** @param {string} cartId @param {string} productId */
    add(cartId, productId) {
      run(
        `insert into shop_line (cart_id, product_id, quantity) values (?, ?, 1)
         on conflict (cart_id, product_id) do update set quantity = min(quantity + 1, 99)`,
        cartId,
        productId,
      );
    },
    /** @param {string} cartId */
    empty: (cartId) => run("delete from shop_line where cart_id = ?", cartId),
    /** Turns a cart into an order and closes the cart; null if another call was faster. @param {Cart} cart @returns {Order | null} */
    place(cart) {
      const { lines, totalCents } = cart;
      const order = { id: randomUUID(), cartId: cart.id, lines, totalCents, placedAt: Date.now() };
      // In one transaction: another process would take a closed cart without its order for one that a crash left, and open it.
      database.exec("begin immediate");
      try {
        const close = "update shop_cart set order_id = ? where id = ? and order_id is null";
        const isPlaced = run(close, order.id, cart.id).changes > 0;
        if (isPlaced)
          run(
            "insert into shop_order (id, cart_id, total_cents, lines, placed_at) values (?, ?, ?, ?, ?)",
            ...[order.id, cart.id, cart.totalCents, JSON.stringify(cart.lines), order.placedAt],
          );
        database.exec("commit");
        return isPlaced ? order : null;
      } catch (error) {
        database.exec("rollback");
        throw error;
      }
    },
    /** Opens the cart of an unpaid order again. @param {string} orderId */
    reopen: (orderId) => run("update shop_cart set order_id = null where order_id = ?", orderId),
    /** @param {string} id */
    order: (id) => toOrder(one("select * from shop_order where id = ?", id)),
    /** Returns an order only if it belongs to the session. @param {string} id @param {string} session */
    orderOf: (id, session) =>
      toOrder(
        one(
          `select o.* from shop_order o join shop_cart c on c.id = o.cart_id where o.id = ? and c.session_hash = ?`,
          ...[id, hashOf(session)],
        ),
      ),
    /**
     * Returns all orders of a period, and in addition these, whatever their time.
     * @param {Date} from
     * @param {Date} to
     * @param {readonly string[]} ids
     */
    placed: (from, to, ids) =>
      all(
        `select * from shop_order where placed_at >= ? and placed_at < ? or id in (select value from json_each(?))`,
        ...[from.getTime(), to.getTime(), JSON.stringify(ids)],
      ).map((row) => /** @type {Order} */ (toOrder(row))),
    /** Returns the latest hundred orders. */
    orders: () =>
      all("select * from shop_order order by placed_at desc limit 100").map(
        (row) => /** @type {Order} */ (toOrder(row)),
      ),
  };
}
