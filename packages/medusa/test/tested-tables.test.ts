import pg from "pg";
import { expect, test } from "vitest";
import { findUntestedTables } from "../src/medusa-tables/tested-tables.js";
import { paymentsOf } from "./support/figures.js";
import { sharedShop, startShop } from "./support/shop.js";

/** Changes as a release of Medusa, or another plugin, could make them. */
const changes = [
  ["payment_session", "alter table payment_session add column risk text not null default 'none'"],
  ["payment_collection", "alter table payment_collection alter column status set default 'awaiting'"],
  [
    "payment",
    `create function note_payment() returns trigger language plpgsql as $$ begin new.metadata = '{"noted": true}'; return new; end $$;
     create trigger note_payment before insert on payment for each row execute function note_payment()`,
  ],
] as const;

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

test("a change of a table that the plugin writes is noticed", async () => {
  const client = await connect((await sharedShop("whole")).databaseUrl);
  try {
    const find = () => findUntestedTables(async (text, params) => (await client.query(text, params)).rows);
    expect(await find()).toEqual([]);
    for (const [table, change] of changes) {
      await client.query("begin");
      await client.query(change);
      expect(await find(), change).toEqual([table]);
      await client.query("rollback");
    }
  } finally {
    await client.end();
  }
});

test("Medusa's payment module writes the cards' payments if its tables aren't those of a tested release", {
  tags: "long",
}, async () => {
  const shop = await startShop();
  const client = await connect(shop.databaseUrl);
  try {
    await shop.crash();
    for (const [, change] of changes) await client.query(change);
    await shop.restart();
    expect(shop.medusa.logs()).toContain(
      "aren't those of a tested release of Medusa: payment_session, payment, payment_coll",
    );
    const { storefront: s, service } = shop;
    const [paying, kept] = [
      await service.issueCard({ balanceCents: 7500 }),
      await service.issueCard({ balanceCents: 7500 }),
    ];
    const cartId = await s.createCart();
    await s.apply(cartId, paying);
    await s.initiate(cartId);
    const { body } = await s.complete(cartId);
    const { amounts, gifts } = paymentsOf(await s.order(body.order.id));
    expect(amounts).toEqual([50, 24.98]);
    await s.ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
    expect(await shop.balanceCents(paying)).toBe(2500);
    // The added column has its value.
    const { rows } = await client.query(
      "select p.metadata, s.risk from payment p join payment_session s on s.id = p.payment_session_id",
    );
    expect(rows).toEqual([1, 2].map(() => ({ metadata: { noted: true }, risk: "none" })));
    const declined = await s.createCart();
    await s.apply(declined, kept);
    await s.initiate(declined, "pp_bank_bank", { behaviour: "error" });
    expect((await s.complete(declined)).body.type).not.toBe("order");
    await expect.poll(() => shop.balanceCents(kept)).toBe(7500);
    // Only the plugin itself creates the session of a card.
    const forged = await s.initiate(declined, "pp_giftcard_giftcard", { giftcard_last_four: "0000" });
    expect(forged.status).toBe(400);
  } finally {
    await client.end();
    await shop.stop();
  }
});
