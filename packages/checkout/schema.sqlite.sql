-- Written by `npm run docs -- schema`, the tables that the migrations create. To change them, add a migration.

CREATE TABLE giftcard_action (
  id integer primary key,
  reference text not null references giftcard_charge (reference),
  action text not null check (action in ('retry', 'mark_taken', 'mark_not_taken')),
  actor text not null,
  from_state text not null,
  to_state text not null,
  created_at integer not null
) strict;

CREATE INDEX giftcard_action_reference on giftcard_action (reference);

CREATE TABLE giftcard_charge (
  reference text primary key,
  tender_id text not null references giftcard_tender (id),
  cart_id text not null,
  external_id text not null,
  attempt_id text,
  -- Which of its payment's charges it is, and which units of the order's lines it pays.
  position integer not null default 1 check (position >= 1),
  pieces text,
  order_id text,
  environment text not null check (environment in ('live', 'sandbox')),
  base_url text not null,
  company_id integer not null,
  state text not null check (state in ('intent', 'sent', 'devalued', 'committed', 'captured', 'reversing', 'unknown',
    'needs_attention', 'reversed', 'refused', 'taken')),
  state_changed_at integer not null,
  last_four text not null,
  amount_cents integer not null check (amount_cents > 0),
  deducted_cents integer check (deducted_cents between 1 and amount_cents),
  sealed_card text,
  sealed_token text,
  reason text,
  refund_id text,
  balance_before_cents integer not null,
  balance_after_cents integer,
  balance_after_at integer,
  lease_owner text,
  lease_until integer,
  next_try_at integer not null,
  tries integer not null default 0,
  last_error text,
  created_at integer not null,
  updated_at integer not null,
  sent_at integer,
  devalued_at integer,
  reversed_at integer,
  -- What is charged is what was asked for, and can be reversed.
  check (state not in ('devalued', 'committed', 'captured')
    or (deducted_cents is not null and deducted_cents = amount_cents and sealed_token is not null)),
  unique (external_id, position)
) strict;

CREATE INDEX giftcard_charge_amount on giftcard_charge (amount_cents);

CREATE INDEX giftcard_charge_cart on giftcard_charge (cart_id);

CREATE INDEX giftcard_charge_created on giftcard_charge (created_at);

CREATE INDEX giftcard_charge_last_four on giftcard_charge (last_four);

CREATE UNIQUE INDEX giftcard_charge_one_alive on giftcard_charge (tender_id, position)
  where state in ('intent', 'sent', 'devalued', 'committed', 'captured', 'reversing', 'unknown', 'needs_attention');

CREATE INDEX giftcard_charge_order on giftcard_charge (order_id);

CREATE INDEX giftcard_charge_split on giftcard_charge (external_id) where position = 2;

CREATE INDEX giftcard_charge_state on giftcard_charge (state, created_at);

CREATE INDEX giftcard_charge_tender on giftcard_charge (tender_id);

CREATE TABLE giftcard_guess (
  key text primary key,
  count integer not null,
  resets_at integer not null
) strict;

CREATE TABLE giftcard_migration (
      number integer primary key,
      release text not null,
      applied_at integer not null
    ) strict;

CREATE TABLE giftcard_purchase (
  order_id text primary key,
  cart_id text not null,
  attempt_id text not null unique,
  earlier_attempts text not null default '[]',
  state text not null check (state in ('charging', 'pending', 'paid', 'voiding', 'failed', 'canceling', 'canceled',
    'refunding', 'refunded')),
  total_cents integer not null check (total_cents >= 0),
  currency text not null,
  remainder_cents integer not null check (remainder_cents between 0 and total_cents),
  -- The amounts as the shopper was shown them.
  plan text not null,
  remainder_data text,
  lines text,
  lease_owner text,
  lease_until integer,
  next_try_at integer not null,
  tries integer not null default 0,
  last_error text,
  last_actor text,
  remainder_settled_by text,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX giftcard_purchase_cart on giftcard_purchase (cart_id)
  where state in ('charging', 'pending', 'paid', 'refunding');

CREATE TABLE giftcard_refund (
  order_id text not null,
  id text not null,
  number integer not null check (number >= 1),
  rule text not null check (rule in ('as-paid', 'cards-first', 'remainder-first', 'in-proportion')),
  lines text,
  amount_cents integer not null check (amount_cents > 0),
  remainder_cents integer not null check (remainder_cents between 0 and amount_cents),
  charge_references text not null,
  created_at integer not null,
  done_at integer,
  primary key (order_id, id),
  unique (order_id, number)
) strict;

CREATE TABLE giftcard_secret (
  name text primary key,
  sealed text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE TABLE giftcard_tender (
  id text primary key,
  cart_id text not null,
  state text not null check (state in ('quoted', 'applied', 'charging', 'spent', 'removed')),
  last_four text not null,
  fingerprint text not null,
  balance_cents integer not null check (balance_cents >= 0),
  expiry_date text not null default '',
  sealed_card text,
  -- A cart has as many slots as one order takes cards.
  slot integer check (slot >= 1),
  expires_at integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX giftcard_tender_card_once on giftcard_tender (cart_id, fingerprint)
  where state in ('applied', 'charging');

CREATE INDEX giftcard_tender_cart on giftcard_tender (cart_id);

CREATE UNIQUE INDEX giftcard_tender_slot_once on giftcard_tender (cart_id, slot)
  where state in ('applied', 'charging');
