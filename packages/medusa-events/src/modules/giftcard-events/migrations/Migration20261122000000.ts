import { Migration } from "@medusajs/framework/mikro-orm/migrations";

const tables = `
-- Products that are shows: what the form in the admin adds to the product.
create table giftcard_show (
  product_id text primary key,
  details jsonb not null,
  -- Increases with each change: of two people who edit the same version, the second gets an error.
  version integer not null default 1,
  updated_by text not null,
  updated_at timestamptz not null default now()
);

-- Each date of a show is an event. An event that was public is never deleted: the issuer may have it.
create table giftcard_event (
  key text primary key,
  product_id text not null,
  title text not null,
  -- The time at the venue, as staff typed it.
  starts text not null,
  -- The state that staff have set.
  desired_state text not null default 'draft' check (desired_state in ('draft', 'published', 'canceled', 'withdrawn')),
  -- Its product is published, and has this date.
  is_on_sale boolean not null,
  state text not null generated always as (
    case when desired_state = 'published' and not is_on_sale then 'withdrawn' else desired_state end) stored,
  -- The newest content without faults.
  content jsonb,
  faults jsonb not null,
  last_day date,
  -- When the content or the state last changed.
  changed_at timestamptz not null default now(),
  check (desired_state = 'draft' or (content is not null and last_day is not null))
);
create index giftcard_event_product on giftcard_event (product_id);
create index giftcard_event_starts on giftcard_event (starts, key);

-- Calls of newevent, by their Idempotency-Key. A call is recorded before it is sent.
create table giftcard_event_call (
  reference text primary key,
  issuer text not null,
  lease_owner text not null,
  lease_until timestamptz not null,
  created_at timestamptz not null default now()
);

-- The delivery of an event to one issuer. An event is delivered once, however often and by whomever that is requested.
create table giftcard_event_delivery (
  key text not null references giftcard_event (key),
  issuer text not null,
  -- sending: sent, without a response yet. refused: sent again once its content has changed.
  state text not null default 'pending' check (state in ('pending', 'sending', 'delivered', 'refused')),
  requested_by text not null,
  requested_at timestamptz not null default now(),
  reference text references giftcard_event_call (reference),
  position integer,
  -- The issuer's copy as far as it is known: recorded before it is sent, then updated from the issuer's list.
  content jsonb,
  sent_at timestamptz,
  -- The issuer's id of the event, if it is known.
  issuer_id integer,
  delivered_at timestamptz,
  -- Whether the issuer's list had the event at the last comparison.
  is_listed boolean not null default true,
  attempts integer not null default 0,
  last_error text,
  primary key (key, issuer),
  check (state not in ('sending', 'delivered') or (content is not null and sent_at is not null)),
  check (state <> 'sending' or (reference is not null and position is not null)),
  check (state <> 'delivered' or delivered_at is not null)
);
create unique index giftcard_event_delivery_position on giftcard_event_delivery (reference, position);
create index giftcard_event_delivery_open on giftcard_event_delivery (issuer, state) where state in ('pending', 'sending');
`;

/** Creates the plugin's tables. */
export class Migration20261122000000 extends Migration {
  override up(): void {
    this.addSql(tables);
  }

  override down(): void {
    this.addSql("drop table giftcard_event_delivery, giftcard_event_call, giftcard_event, giftcard_show");
  }
}
