/**
 * Inserts the session and payment that Medusa would have written before a charge is sent and committed. The conformance
 * cases create charges without a shop.
 */
const writePayments = `
  insert into payment_collection (id, currency_code, amount, raw_amount) values ('conformance', 'eur', 0, '{"value": "0"}')
    on conflict do nothing;
  create or replace function write_payment() returns trigger language plpgsql as $$
    declare
      -- A payment of several charges is of their sum.
      cents integer := new.amount_cents + (select coalesce(sum(amount_cents), 0) from giftcard_charge where external_id = new.external_id);
      price jsonb := jsonb_build_object('value', (cents / 100.0)::text);
    begin
      insert into payment_session (id, currency_code, amount, raw_amount, provider_id, data, payment_collection_id)
        values (new.external_id, 'eur', cents / 100.0, price, 'pp_giftcard_giftcard', '{}', 'conformance')
        on conflict (id) do update set amount = excluded.amount, raw_amount = excluded.raw_amount;
      insert into payment (id, currency_code, amount, raw_amount, provider_id, data, payment_collection_id, payment_session_id)
        values ('pay_' || new.external_id, 'eur', cents / 100.0, price, 'pp_giftcard_giftcard', '{}', 'conformance', new.external_id)
        on conflict (id) do update set amount = excluded.amount, raw_amount = excluded.raw_amount;
      return new;
    end $$;
  create or replace trigger write_payment before insert on giftcard_charge for each row execute function write_payment();`;

/** Runs the conformance cases on the journal that the plugin's module created in this process. */
async function POST(req, res) {
  const { journalConformance } = await import("@giftcard-pay/checkout/conformance");
  await req.scope.resolve("__pg_connection__").raw(writePayments);
  const { journal } = req.scope.resolve("giftcard").engine;
  const results = [];
  for (const { name, run } of journalConformance(() => journal)) {
    const fault = await run().then(
      () => null,
      (error) => error.message,
    );
    results.push({ name, fault });
  }
  res.json(results);
}

module.exports = { POST };
