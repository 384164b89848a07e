-- Written by `npm run docs -- schema`, the tables that the migrations create. To change them, add a migration.

create table giftcard_action (
  id bigint not null generated always as identity,
  reference text not null,
  action text not null,
  actor text not null,
  from_state text not null,
  to_state text not null,
  created_at timestamp with time zone not null default now(),
  constraint giftcard_action_pkey PRIMARY KEY (id),
  constraint giftcard_action_reference_fkey FOREIGN KEY (reference) REFERENCES giftcard_charge(reference),
  constraint giftcard_action_action_check CHECK (action = ANY (ARRAY['retry'::text, 'mark_taken'::text, 'mark_not_taken'::text]))
);

create table giftcard_charge (
  reference text not null,
  tender_id text not null,
  cart_id text not null,
  external_id text not null,
  attempt_id text,
  "position" integer not null default 1,
  pieces text,
  order_id text,
  environment text not null,
  base_url text not null,
  company_id integer not null,
  state text not null,
  state_changed_at timestamp with time zone not null default now(),
  last_four text not null,
  amount_cents integer not null,
  deducted_cents integer,
  sealed_card text,
  sealed_token text,
  reason text,
  refund_id text,
  balance_before_cents bigint not null,
  balance_after_cents bigint,
  balance_after_at timestamp with time zone,
  lease_owner text,
  lease_until timestamp with time zone,
  next_try_at timestamp with time zone not null default now(),
  tries integer not null default 0,
  last_error text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  sent_at timestamp with time zone,
  devalued_at timestamp with time zone,
  reversed_at timestamp with time zone,
  constraint giftcard_charge_pkey PRIMARY KEY (reference),
  constraint giftcard_charge_external_id_position_key UNIQUE (external_id, "position"),
  constraint giftcard_charge_tender_id_fkey FOREIGN KEY (tender_id) REFERENCES giftcard_tender(id),
  constraint giftcard_charge_amount_cents_check CHECK (amount_cents > 0),
  constraint giftcard_charge_check CHECK (deducted_cents >= 1 AND deducted_cents <= amount_cents),
  constraint giftcard_charge_check1 CHECK ((state <> ALL (ARRAY['devalued'::text, 'committed'::text, 'captured'::text])) OR deducted_cents IS NOT NULL AND deducted_cents = amount_cents AND sealed_token IS NOT NULL),
  constraint giftcard_charge_environment_check CHECK (environment = ANY (ARRAY['live'::text, 'sandbox'::text])),
  constraint giftcard_charge_position_check CHECK ("position" >= 1),
  constraint giftcard_charge_state_check CHECK (state = ANY (ARRAY['intent'::text, 'sent'::text, 'devalued'::text, 'committed'::text, 'captured'::text, 'reversing'::text, 'unknown'::text, 'needs_attention'::text, 'reversed'::text, 'refused'::text, 'taken'::text]))
);

create table giftcard_guess (
  key text not null,
  count integer not null,
  resets_at timestamp with time zone not null,
  constraint giftcard_guess_pkey PRIMARY KEY (key)
);

create table giftcard_migration (
  number integer not null,
  release text not null,
  applied_at timestamp with time zone not null default now(),
  constraint giftcard_migration_pkey PRIMARY KEY (number)
);

create table giftcard_purchase (
  order_id text not null,
  cart_id text not null,
  attempt_id text not null,
  earlier_attempts text not null default '[]'::text,
  state text not null,
  total_cents bigint not null,
  currency text not null,
  remainder_cents bigint not null,
  plan text not null,
  remainder_data text,
  lines text,
  lease_owner text,
  lease_until timestamp with time zone,
  next_try_at timestamp with time zone not null default now(),
  tries integer not null default 0,
  last_error text,
  last_actor text,
  remainder_settled_by text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint giftcard_purchase_pkey PRIMARY KEY (order_id),
  constraint giftcard_purchase_attempt_id_key UNIQUE (attempt_id),
  constraint giftcard_purchase_check CHECK (remainder_cents >= 0 AND remainder_cents <= total_cents),
  constraint giftcard_purchase_state_check CHECK (state = ANY (ARRAY['charging'::text, 'pending'::text, 'paid'::text, 'voiding'::text, 'failed'::text, 'canceling'::text, 'canceled'::text, 'refunding'::text, 'refunded'::text])),
  constraint giftcard_purchase_total_cents_check CHECK (total_cents >= 0)
);

create table giftcard_refund (
  order_id text not null,
  id text not null,
  number integer not null,
  rule text not null,
  lines text,
  amount_cents bigint not null,
  remainder_cents bigint not null,
  charge_references text not null,
  created_at timestamp with time zone not null default now(),
  done_at timestamp with time zone,
  constraint giftcard_refund_pkey PRIMARY KEY (order_id, id),
  constraint giftcard_refund_order_id_number_key UNIQUE (order_id, number),
  constraint giftcard_refund_amount_cents_check CHECK (amount_cents > 0),
  constraint giftcard_refund_check CHECK (remainder_cents >= 0 AND remainder_cents <= amount_cents),
  constraint giftcard_refund_number_check CHECK (number >= 1),
  constraint giftcard_refund_rule_check CHECK (rule = ANY (ARRAY['as-paid'::text, 'cards-first'::text, 'remainder-first'::text, 'in-proportion'::text]))
);

create table giftcard_secret (
  name text not null,
  sealed text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint giftcard_secret_pkey PRIMARY KEY (name)
);

create table giftcard_tender (
  id text not null,
  cart_id text not null,
  state text not null,
  last_four text not null,
  fingerprint text not null,
  balance_cents bigint not null,
  expiry_date text not null default ''::text,
  sealed_card text,
  slot integer,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint giftcard_tender_pkey PRIMARY KEY (id),
  constraint giftcard_tender_balance_cents_check CHECK (balance_cents >= 0),
  constraint giftcard_tender_slot_check CHECK (slot >= 1),
  constraint giftcard_tender_state_check CHECK (state = ANY (ARRAY['quoted'::text, 'applied'::text, 'charging'::text, 'spent'::text, 'removed'::text]))
);

CREATE INDEX giftcard_action_reference ON giftcard_action USING btree (reference);

CREATE INDEX giftcard_charge_amount ON giftcard_charge USING btree (amount_cents);

CREATE INDEX giftcard_charge_cart ON giftcard_charge USING btree (cart_id);

CREATE INDEX giftcard_charge_created ON giftcard_charge USING btree (created_at);

CREATE INDEX giftcard_charge_last_four ON giftcard_charge USING btree (last_four);

CREATE UNIQUE INDEX giftcard_charge_one_alive ON giftcard_charge USING btree (tender_id, "position") WHERE (state = ANY (ARRAY['intent'::text, 'sent'::text, 'devalued'::text, 'committed'::text, 'captured'::text, 'reversing'::text, 'unknown'::text, 'needs_attention'::text]));

CREATE INDEX giftcard_charge_open ON giftcard_charge USING btree (next_try_at) WHERE (state = ANY (ARRAY['intent'::text, 'sent'::text, 'devalued'::text, 'unknown'::text, 'reversing'::text]));

CREATE INDEX giftcard_charge_order ON giftcard_charge USING btree (order_id);

CREATE INDEX giftcard_charge_sealed ON giftcard_charge USING btree (created_at) WHERE (sealed_card IS NOT NULL);

CREATE INDEX giftcard_charge_split ON giftcard_charge USING btree (external_id) WHERE ("position" = 2);

CREATE INDEX giftcard_charge_state ON giftcard_charge USING btree (state, created_at);

CREATE INDEX giftcard_charge_tender ON giftcard_charge USING btree (tender_id);

CREATE UNIQUE INDEX giftcard_purchase_cart ON giftcard_purchase USING btree (cart_id) WHERE (state = ANY (ARRAY['charging'::text, 'pending'::text, 'paid'::text, 'refunding'::text]));

CREATE INDEX giftcard_purchase_open ON giftcard_purchase USING btree (next_try_at) WHERE (state = ANY (ARRAY['charging'::text, 'pending'::text, 'voiding'::text, 'canceling'::text, 'refunding'::text]));

CREATE UNIQUE INDEX giftcard_tender_card_once ON giftcard_tender USING btree (cart_id, fingerprint) WHERE (state = ANY (ARRAY['applied'::text, 'charging'::text]));

CREATE INDEX giftcard_tender_cart ON giftcard_tender USING btree (cart_id);

CREATE INDEX giftcard_tender_expiry ON giftcard_tender USING btree (expires_at) WHERE (sealed_card IS NOT NULL);

CREATE INDEX giftcard_tender_held ON giftcard_tender USING btree (cart_id) WHERE (state = ANY (ARRAY['applied'::text, 'charging'::text]));

CREATE UNIQUE INDEX giftcard_tender_slot_once ON giftcard_tender USING btree (cart_id, slot) WHERE (state = ANY (ARRAY['applied'::text, 'charging'::text]));

CREATE INDEX giftcard_tender_unspent ON giftcard_tender USING btree (expires_at) WHERE (state = ANY (ARRAY['quoted'::text, 'applied'::text]));
