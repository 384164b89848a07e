-- What a shop of release 0.1.0 has written: a card in every state, a charge of 10.00 in every state, each on a card of
-- its own, and a purchase in every state. What stands in braces is filled in: moments, and what the service knows.

insert into giftcard_tender
  (id, cart_id, state, last_four, fingerprint, balance_cents, sealed_card, slot, expires_at, created_at, updated_at)
values
  ('quoted', 'cart', 'quoted', '0001', 'print-1', 5000, 'sealed', null, {later}, {earlier}, {earlier}),
  ('applied', 'cart', 'applied', '0002', 'print-2', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('lapsed', 'cart', 'applied', '0003', 'print-3', 5000, 'sealed', 2, {earlier}, {earlier}, {earlier}),
  ('removed', 'cart', 'removed', '0004', 'print-4', 5000, null, null, {later}, {earlier}, {earlier}),
  ('intent', 'cart-intent', 'charging', '0005', 'print-5', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('sent', 'cart-sent', 'charging', '0006', 'print-6', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('unknown', 'cart-unknown', 'charging', '0007', 'print-7', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('devalued', 'cart-devalued', 'charging', '0008', 'print-8', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('reversing', 'cart-reversing', 'charging', '0009', 'print-9', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('needs_attention', 'cart-needs_attention', 'charging', '0010', 'print-10', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('committed', 'cart-committed', 'spent', '0011', 'print-11', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('captured', 'cart-captured', 'spent', '0012', 'print-12', 5000, null, 1, {later}, {earlier}, {earlier}),
  ('refused', 'cart-refused', 'applied', '0013', 'print-13', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('reversed', 'cart-reversed', 'applied', '0014', 'print-14', 5000, 'sealed', 1, {later}, {earlier}, {earlier}),
  ('taken', 'cart-taken', 'spent', '0015', 'print-15', 5000, null, 1, {later}, {earlier}, {earlier});

insert into giftcard_charge
  (reference, tender_id, cart_id, external_id, order_id, environment, base_url, company_id, state, last_four, amount_cents,
    deducted_cents, sealed_card, sealed_token, reason, balance_before_cents, lease_owner, lease_until, next_try_at, tries,
    last_error, created_at, updated_at, sent_at, devalued_at, reversed_at, state_changed_at)
values
  ('{intent}', 'intent', 'cart-intent', 'pay-intent', null, 'sandbox', '{baseUrl}', {companyId}, 'intent', '0005', 1000,
    null, 'sealed', null, null, 5000, 'gone', {earlier}, {earlier}, 0, null, {earlier}, {earlier}, null, null, null, {earlier}),
  ('{sent}', 'sent', 'cart-sent', 'pay-sent', null, 'sandbox', '{baseUrl}', {companyId}, 'sent', '0006', 1000,
    null, 'sealed', null, null, 5000, 'gone', {earlier}, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, null, null, {earlier}),
  ('{unknown}', 'unknown', 'cart-unknown', 'pay-unknown', null, 'sandbox', '{baseUrl}', {companyId}, 'unknown', '0007', 1000,
    null, 'sealed', null, 'timeout', 5000, null, null, {earlier}, 3, 'timeout', {earlier}, {earlier}, {earlier}, null, null, {earlier}),
  ('{devalued}', 'devalued', 'cart-devalued', 'pay-devalued', null, 'sandbox', '{baseUrl}', {companyId}, 'devalued', '0008', 1000,
    1000, null, '{devalued token}', null, 5000, 'gone', {earlier}, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, {earlier}, null, {earlier}),
  ('{reversing}', 'reversing', 'cart-reversing', 'pay-reversing', null, 'sandbox', '{baseUrl}', {companyId}, 'reversing', '0009', 1000,
    1000, null, '{reversing token}', 'never_ordered', 5000, null, null, {earlier}, 2, 'connection_lost', {earlier}, {earlier}, {earlier}, {earlier}, null, {earlier}),
  ('{needs_attention}', 'needs_attention', 'cart-needs_attention', 'pay-needs_attention', null, 'sandbox', '{baseUrl}', {companyId}, 'needs_attention', '0010', 1000,
    null, null, null, 'outcome_unknown', 5000, null, null, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, null, null, {earlier}),
  ('{committed}', 'committed', 'cart-committed', 'pay-committed', 'order-1', 'sandbox', '{baseUrl}', {companyId}, 'committed', '0011', 1000,
    1000, null, '{committed token}', null, 5000, null, null, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, {earlier}, null, {earlier}),
  ('{captured}', 'captured', 'cart-captured', 'pay-captured', 'order-2', 'sandbox', '{baseUrl}', {companyId}, 'captured', '0012', 1000,
    1000, null, '{captured token}', null, 5000, null, null, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, {earlier}, null, {earlier}),
  ('{refused}', 'refused', 'cart-refused', 'pay-refused', null, 'sandbox', '{baseUrl}', {companyId}, 'refused', '0013', 1000,
    null, null, null, 'card_blocked', 5000, null, null, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, null, null, {earlier}),
  ('{reversed}', 'reversed', 'cart-reversed', 'pay-reversed', null, 'sandbox', '{baseUrl}', {companyId}, 'reversed', '0014', 1000,
    1000, null, 'sealed', 'never_ordered', 5000, null, null, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, {earlier}, {earlier}, {earlier}),
  ('{taken}', 'taken', 'cart-taken', 'pay-taken', null, 'sandbox', '{baseUrl}', {companyId}, 'taken', '0015', 1000,
    null, null, null, 'outcome_unknown', 5000, null, null, {earlier}, 0, null, {earlier}, {earlier}, {earlier}, null, null, {earlier});

insert into giftcard_action (reference, action, actor, from_state, to_state, created_at)
values ('{taken}', 'mark_taken', 'ada', 'needs_attention', 'taken', {earlier});

insert into giftcard_guess (key, count, resets_at) values ('address', 3, {later});

insert into giftcard_purchase
  (order_id, cart_id, attempt_id, state, total_cents, currency, remainder_cents, remainder_data, lease_owner, lease_until, next_try_at,
    tries, last_error, last_actor, created_at, updated_at)
values
  ('charging', 'cart-a', 'run-charging', 'charging', 2000, 'EUR', 2000, null, 'gone', {earlier}, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('pending', 'cart-b', 'run-pending', 'pending', 2000, 'EUR', 2000, '{"page":"/pay"}', null, null, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('paid', 'cart-c', 'run-paid', 'paid', 2000, 'EUR', 2000, null, null, null, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('voiding', 'cart-d', 'run-voiding', 'voiding', 2000, 'EUR', 2000, null, null, null, {earlier}, 2, 'cancel:down', 'ada', {earlier}, {earlier}),
  ('failed', 'cart-e', 'run-failed', 'failed', 2000, 'EUR', 2000, null, null, null, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('canceling', 'cart-f', 'run-canceling', 'canceling', 2000, 'EUR', 2000, null, null, null, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('canceled', 'cart-g', 'run-canceled', 'canceled', 2000, 'EUR', 2000, null, null, null, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('refunding', 'cart-h', 'run-refunding', 'refunding', 2000, 'EUR', 2000, null, null, null, {earlier}, 0, null, null, {earlier}, {earlier}),
  ('refunded', 'cart-i', 'run-refunded', 'refunded', 2000, 'EUR', 2000, null, null, null, {earlier}, 0, null, null, {earlier}, {earlier});

insert into giftcard_refund
  (id, order_id, number, rule, lines, amount_cents, remainder_cents, charge_references, created_at, done_at)
values
  ('refund-1', 'refunding', 1, 'as-paid', null, 500, 500, '[]', {earlier}, {earlier}),
  ('refund-2', 'refunding', 2, 'as-paid', null, 1500, 1500, '[]', {earlier}, null);
