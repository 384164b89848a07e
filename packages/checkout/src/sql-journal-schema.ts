import { type AttemptState, attemptStates, livingStates } from "./journal.js";

/** What recovery ends. A committed or captured attempt belongs to an order, and a person ends what needs attention. */
export const recoverableStates: readonly AttemptState[] = [
  "intent",
  "sent",
  "devalued",
  "unknown",
  "reversing",
];
/** States as SQL literals; they come from this package alone. */
export const sqlList = (states: readonly string[]) => states.map((s) => `'${s}'`).join(", ");

/** The tables, as plain PostgreSQL. Every statement may be run again. */
export const journalSchema: { readonly up: readonly string[]; readonly down: readonly string[] } = {
  up: [
    `create table if not exists giftcard_tender (
      id text primary key,
      cart_id text not null,
      state text not null check (state in ('quoted', 'applied', 'charging', 'spent', 'removed')),
      last_four text not null,
      fingerprint text not null,
      balance_cents bigint not null check (balance_cents >= 0),
      sealed_card text,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    "create index if not exists giftcard_tender_cart on giftcard_tender (cart_id)",
    "create index if not exists giftcard_tender_held on giftcard_tender (cart_id) where state in ('applied', 'charging')",
    "create index if not exists giftcard_tender_expiry on giftcard_tender (expires_at) where sealed_card is not null",
    "create index if not exists giftcard_tender_unspent on giftcard_tender (expires_at) where state in ('quoted', 'applied')",
    `create unique index if not exists giftcard_tender_card_once on giftcard_tender (cart_id, fingerprint)
      where state in ('applied', 'charging')`,
    `create table if not exists giftcard_attempt (
      reference text primary key,
      tender_id text not null references giftcard_tender (id),
      cart_id text not null,
      external_id text not null unique,
      order_id text,
      environment text not null check (environment in ('live', 'sandbox')),
      base_url text not null,
      company_id integer not null,
      state text not null check (state in (${sqlList(attemptStates)})),
      last_four text not null,
      amount_cents integer not null check (amount_cents between 1 and 5000),
      deducted_cents integer check (deducted_cents between 1 and amount_cents),
      sealed_card text,
      sealed_token text,
      reason text,
      balance_before_cents bigint not null,
      balance_after_cents bigint,
      balance_after_at timestamptz,
      lease_owner text,
      lease_until timestamptz,
      next_try_at timestamptz not null default now(),
      tries integer not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      sent_at timestamptz,
      devalued_at timestamptz,
      reversed_at timestamptz,
      check (state not in ('devalued', 'committed', 'captured') or (deducted_cents is not null and sealed_token is not null))
    )`,
    "create index if not exists giftcard_attempt_cart on giftcard_attempt (cart_id)",
    "create index if not exists giftcard_attempt_order on giftcard_attempt (order_id)",
    `create unique index if not exists giftcard_attempt_one_alive on giftcard_attempt (tender_id)
      where state in (${sqlList(livingStates)})`,
    `create index if not exists giftcard_attempt_open on giftcard_attempt (next_try_at)
      where state in (${sqlList(recoverableStates)})`,
    "create index if not exists giftcard_attempt_sealed on giftcard_attempt (created_at) where sealed_card is not null",
    `create index if not exists giftcard_attempt_state on giftcard_attempt (state, created_at)`,
    `create table if not exists giftcard_action (
      id bigint generated always as identity primary key,
      reference text not null references giftcard_attempt (reference),
      action text not null check (action in ('retry', 'mark_taken', 'mark_not_taken')),
      actor text not null,
      from_state text not null,
      to_state text not null,
      created_at timestamptz not null default now()
    )`,
    "create index if not exists giftcard_action_reference on giftcard_action (reference)",
    `create table if not exists giftcard_guess (
      key text primary key,
      count integer not null,
      resets_at timestamptz not null
    )`,
  ],
  down: ["giftcard_guess", "giftcard_action", "giftcard_attempt", "giftcard_tender"].map(
    (table) => `drop table if exists ${table}`,
  ),
};
