import { postgresMigrations } from "@giftcard-pay/checkout/plugin";
import { Migration } from "@medusajs/framework/mikro-orm/migrations";
import { refuseWhileOpen } from "../open-money.js";

/** The journal's tables of release 0.1.0. Later changes are migrations of their own. */
const journal = postgresMigrations.filter(({ release }) => release === "0.1.0");

/** The tables with which recovery finds its work, and the leases of carts. */
const tables = `
-- Orders that were once paid, for the total when they were placed. Recovery never cancels them.
create table giftcard_order (
  order_id text primary key,
  cart_id text,
  total_cents bigint check (total_cents >= 0),
  -- The lines over which its cards were charged; null if they were charged as a whole.
  lines jsonb,
  paid_at timestamptz
);

-- Unpaid orders whose cancellation was begun.
create table giftcard_unpaid_order (
  order_id text primary key,
  cart_id text not null,
  reason text not null check (reason in ('unpaid', 'remainder_lapsed', 'remainder_declined')),
  canceled_at timestamptz
);

-- Remainders of carts that another method may promise to pay later.
create table giftcard_remainder (
  session_id text primary key,
  cart_id text not null,
  created_at timestamptz not null default now()
);

-- Payments without an order, which recovery cancels or refunds. If a refund was begun and the row remains, nobody
-- knows whether it was made.
create table giftcard_release (
  payment_id text primary key,
  cart_id text not null,
  refund_begun_at timestamptz
);

-- Failing jobs of recovery.
create table giftcard_job (
  kind text not null,
  id text not null,
  order_id text,
  cart_id text,
  tries integer not null default 1,
  last_error text not null,
  -- Why only a person can continue it.
  why jsonb,
  first_failed_at timestamptz not null default now(),
  last_failed_at timestamptz not null default now(),
  exempted_by text,
  exempted_at timestamptz,
  primary key (kind, id)
);

-- How far recovery has looked through the past.
create table giftcard_scan (
  id boolean primary key default true check (id),
  after text not null
);
insert into giftcard_scan (after) values ('');

-- Unlogged: after a crash of PostgreSQL no job is running, and a lease needn't wait for the disk.
create unlogged table giftcard_cart_lease (
  cart_id text primary key,
  owner text not null,
  until timestamptz not null,
  -- Its job waits for Medusa's lock on the cart. A completion, which has that lock, may take the lease.
  gives_way boolean not null default false
);

-- The Medusa processes that share this database. Unlogged: each reports itself again.
create unlogged table giftcard_process (
  id text primary key,
  lock text not null,
  connections integer not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

create index giftcard_charge_changed on giftcard_charge (updated_at);

-- Bulk refunds.
create table giftcard_bulk_refund (
  id text primary key,
  title text not null,
  sold jsonb not null,
  actor text not null,
  -- The orders that its plan left out, each with the reason at that time.
  refused jsonb not null default '[]',
  created_at timestamptz not null default now()
);
create table giftcard_bulk_refund_order (
  bulk_refund_id text not null references giftcard_bulk_refund (id),
  order_id text not null,
  -- open: to be refunded. person: needs a person's decision. exempted: a person has left it as it is.
  state text not null default 'open' check (state in ('open', 'done', 'person', 'exempted')),
  units jsonb not null,
  amount_cents bigint not null check (amount_cents > 0),
  parts jsonb not null,
  -- The payments that are captured before.
  captures jsonb not null,
  why jsonb,
  -- A hash of what the parts were planned on, once the first of them was begun.
  basis text,
  lease_owner text,
  lease_until timestamptz,
  updated_at timestamptz not null default now(),
  primary key (bulk_refund_id, order_id)
);
create index giftcard_bulk_refund_order_open on giftcard_bulk_refund_order (bulk_refund_id) where state = 'open';
create index giftcard_bulk_refund_order_order on giftcard_bulk_refund_order (order_id);
-- An order is in one bulk refund at a time.
create unique index giftcard_bulk_refund_order_one on giftcard_bulk_refund_order (order_id) where state in ('open', 'person');

-- Which of these migrations were run.
create table giftcard_medusa_migration (
  number integer primary key,
  release text not null,
  applied_at timestamptz not null default now()
);
insert into giftcard_medusa_migration (number, release) values (1, '0.1.0');
`;

/**
 * Keeps one amount per payment: a charge is only sent for a session of the same amount as the session's charges
 * together, and only committed to an order with a payment of the same amount. PostgreSQL refuses anything else,
 * whatever code asks for it.
 */
const sameAmount = `
create function giftcard_same_amount() returns trigger language plpgsql as $$
declare
  payment_cents integer := new.amount_cents + (select coalesce(sum(amount_cents), 0) from giftcard_charge
    where external_id = new.external_id and position <> new.position);
begin
  if new.state = 'sent' then
    perform 1 from payment_session where id = new.external_id and deleted_at is null
      and round(amount * 100) = payment_cents;
    if not found then
      raise exception using errcode = 'check_violation', constraint = 'giftcard_charge_amount',
        message = 'the charge ' || new.reference || ' has no payment session of the same amount';
    end if;
  else
    perform 1 from payment where payment_session_id = new.external_id and deleted_at is null
      and canceled_at is null and round(amount * 100) = payment_cents;
    if not found then
      raise exception using errcode = 'check_violation', constraint = 'giftcard_charge_amount',
        message = 'the charge ' || new.reference || ' has no payment of the same amount';
    end if;
  end if;
  return new;
end $$;

create trigger giftcard_same_amount before insert or update of state, amount_cents, external_id
  on giftcard_charge for each row when (new.state in ('sent', 'committed'))
  execute function giftcard_same_amount();
`;

/**
 * Deletes the payment sessions of open carts that had a card: each is for the remainder alone, so without the plugin the cart
 * would be sold for less than its price. The shopper chooses the payment method again, for the full price.
 */
const endRemainders = `
update payment_session s set deleted_at = now() where s.deleted_at is null
  and not exists (select from payment p where p.payment_session_id = s.id and p.deleted_at is null)
  and s.payment_collection_id in (select pays.payment_collection_id from cart_payment_collection pays
    join cart on cart.id = pays.cart_id and cart.completed_at is null
    where pays.deleted_at is null and pays.cart_id in (select cart_id from giftcard_tender));
`;

/** The journal's tables and the plugin's own in release 0.1.0. */
export class Migration20261121000000 extends Migration {
  override up(): void {
    for (const step of journal) this.addSql(step.journal);
    this.addSql(tables);
    this.addSql(sameAmount);
  }

  override down(): void {
    this.addSql(refuseWhileOpen);
    this.addSql(endRemainders);
    this.addSql(`
drop table giftcard_bulk_refund_order, giftcard_bulk_refund, giftcard_order, giftcard_unpaid_order, giftcard_remainder, giftcard_release, giftcard_job,
  giftcard_scan, giftcard_process, giftcard_cart_lease, giftcard_medusa_migration;
drop table giftcard_secret, giftcard_guess, giftcard_action, giftcard_charge, giftcard_tender;
drop function giftcard_same_amount();
`);
  }
}
