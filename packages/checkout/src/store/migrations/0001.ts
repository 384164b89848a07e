/** The first tables, as a `TableMigration`. */
export const migration0001 = {
  number: 1,
  release: "0.1.0",
  journal: `
create table giftcard_tender (
  id text primary key,
  cart_id text not null,
  state text not null check (state in ('quoted', 'applied', 'charging', 'spent', 'removed')),
  last_four text not null,
  fingerprint text not null,
  balance_cents {cents} not null check (balance_cents >= 0),
  expiry_date text not null default '',
  sealed_card text,
  -- A cart has as many slots as one order takes cards.
  slot integer check (slot >= 1),
  expires_at {time} not null,
  created_at {filledTime},
  updated_at {filledTime}
){options};
create index giftcard_tender_cart on giftcard_tender (cart_id);{server
create index giftcard_tender_held on giftcard_tender (cart_id) where state in ('applied', 'charging');
create index giftcard_tender_expiry on giftcard_tender (expires_at) where sealed_card is not null;
create index giftcard_tender_unspent on giftcard_tender (expires_at) where state in ('quoted', 'applied');}
create unique index giftcard_tender_card_once on giftcard_tender (cart_id, fingerprint)
  where state in ('applied', 'charging');
create unique index giftcard_tender_slot_once on giftcard_tender (cart_id, slot)
  where state in ('applied', 'charging');

create table giftcard_charge (
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
  state_changed_at {filledTime},
  last_four text not null,
  amount_cents integer not null check (amount_cents > 0),
  deducted_cents integer check (deducted_cents between 1 and amount_cents),
  sealed_card text,
  sealed_token text,
  reason text,
  refund_id text,
  balance_before_cents {cents} not null,
  balance_after_cents {cents},
  balance_after_at {time},
  lease_owner text,
  lease_until {time},
  next_try_at {filledTime},
  tries integer not null default 0,
  last_error text,
  created_at {filledTime},
  updated_at {filledTime},
  sent_at {time},
  devalued_at {time},
  reversed_at {time},
  -- What is charged is what was asked for, and can be reversed.
  check (state not in ('devalued', 'committed', 'captured')
    or (deducted_cents is not null and deducted_cents = amount_cents and sealed_token is not null)),
  unique (external_id, position)
){options};
create index giftcard_charge_cart on giftcard_charge (cart_id);
create index giftcard_charge_order on giftcard_charge (order_id);
create index giftcard_charge_tender on giftcard_charge (tender_id);
create index giftcard_charge_state on giftcard_charge (state, created_at);
create index giftcard_charge_created on giftcard_charge (created_at);
create index giftcard_charge_last_four on giftcard_charge (last_four);
create index giftcard_charge_amount on giftcard_charge (amount_cents);
create index giftcard_charge_split on giftcard_charge (external_id) where position = 2;{server
create index giftcard_charge_open on giftcard_charge (next_try_at)
  where state in ('intent', 'sent', 'devalued', 'unknown', 'reversing');
create index giftcard_charge_sealed on giftcard_charge (created_at) where sealed_card is not null;}
create unique index giftcard_charge_one_alive on giftcard_charge (tender_id, position)
  where state in ('intent', 'sent', 'devalued', 'committed', 'captured', 'reversing', 'unknown', 'needs_attention');

create table giftcard_action (
  id {identity},
  reference text not null references giftcard_charge (reference),
  action text not null check (action in ('retry', 'mark_taken', 'mark_not_taken')),
  actor text not null,
  from_state text not null,
  to_state text not null,
  created_at {filledTime}
){options};
create index giftcard_action_reference on giftcard_action (reference);

create table giftcard_guess (
  key text primary key,
  count integer not null,
  resets_at {time} not null
){options};

create table giftcard_secret (
  name text primary key,
  sealed text not null,
  created_at {filledTime},
  updated_at {filledTime}
){options};
`,
  purchases: `
create table giftcard_purchase (
  order_id text primary key,
  cart_id text not null,
  attempt_id text not null unique,
  earlier_attempts text not null default '[]',
  state text not null check (state in ('charging', 'pending', 'paid', 'voiding', 'failed', 'canceling', 'canceled',
    'refunding', 'refunded')),
  total_cents {cents} not null check (total_cents >= 0),
  currency text not null,
  remainder_cents {cents} not null check (remainder_cents between 0 and total_cents),
  -- The amounts as the shopper was shown them.
  plan text not null,
  remainder_data text,
  lines text,
  lease_owner text,
  lease_until {time},
  next_try_at {filledTime},
  tries integer not null default 0,
  last_error text,
  last_actor text,
  remainder_settled_by text,
  created_at {filledTime},
  updated_at {filledTime}
){options};
create unique index giftcard_purchase_cart on giftcard_purchase (cart_id)
  where state in ('charging', 'pending', 'paid', 'refunding');{server
create index giftcard_purchase_open on giftcard_purchase (next_try_at)
  where state in ('charging', 'pending', 'voiding', 'canceling', 'refunding');}

create table giftcard_refund (
  order_id text not null,
  id text not null,
  number integer not null check (number >= 1),
  rule text not null check (rule in ('as-paid', 'cards-first', 'remainder-first', 'in-proportion')),
  lines text,
  amount_cents {cents} not null check (amount_cents > 0),
  remainder_cents {cents} not null check (remainder_cents between 0 and amount_cents),
  charge_references text not null,
  created_at {filledTime},
  done_at {time},
  primary key (order_id, id),
  unique (order_id, number)
){options};
`,
};
