-- What an issuer does after a card or a key was made: repair it, sell it from stock, replace it; and who did what, and why.

-- One row for each command that changed something, for good. It holds no card number, PIN, password, token or API key.
create table audit_log (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  -- Who did it, by the name that he gave or else by his account on the machine; and that account in any case.
  operator text not null,
  os_user text not null,
  -- The command, as "card adjust".
  action text not null,
  reason text,
  card_id bigint references cards,
  batch_id bigint,
  company_id integer references companies,
  details jsonb not null default '{}'
);
create index audit_log_card on audit_log (card_id) where card_id is not null;
create index audit_log_company on audit_log (company_id) where company_id is not null;
create index audit_log_created on audit_log (created_at);
create trigger audit_log_is_append_only before update or delete on audit_log
  for each row execute function refuse_change('the audit log is append-only');
create trigger audit_log_is_kept before truncate on audit_log
  for each statement execute function refuse_change('the audit log is append-only');

-- Cards that were issued or imported together.
create table card_batches (
  id bigint generated always as identity primary key,
  origin text not null check (origin in ('issue', 'import')),
  created_at timestamptz not null default now()
);
alter table audit_log add foreign key (batch_id) references card_batches;
create index audit_log_batch on audit_log (batch_id) where batch_id is not null;

alter table cards
  add column batch_id bigint references card_batches,
  -- A card that is not sold yet: what its activation puts on it. Until then it holds nothing.
  add column inactive_cents bigint check (inactive_cents >= 0),
  -- The card that took this one's place.
  add column reissued_as bigint references cards,
  add constraint cards_inactive_is_empty check (inactive_cents is null or balance_cents = 0);
create index cards_batch on cards (batch_id, id) where batch_id is not null;
create unique index cards_reissued_as on cards (reissued_as) where reissued_as is not null;

create or replace function card_status(card cards) returns text stable language sql
  return case
    when (card).blocked or (card).inactive_cents is not null or (card).reissued_as is not null then 'Blocked'
    when (card).expiry_date < (now() at time zone 'Europe/Amsterdam')::date then 'Expired'
    when (card).balance_cents = 0 then 'No balance'
    else 'Active'
  end;

alter table ledger
  -- An adjustment: who made it, and why. Also of a card's first row, and of a move, where a person made them.
  add column audit_id bigint references audit_log,
  -- The second half of a move: the row that took these cents off the other card.
  add column moved_from bigint,
  add column moved_from_card bigint,
  -- What comes onto a card is exactly what went off the other one.
  add foreign key (moved_from, moved_from_card, amount_cents) references ledger (id, card_id, refund_cents),
  drop constraint ledger_check,
  add constraint ledger_check check (
    case kind
      when 'issue' then amount_cents > 0 and num_nonnulls(company_id, deduction_id, reverses, moved_from) = 0
      when 'devalue' then amount_cents between -5000 and -1 and requested_cents >= -amount_cents
        and num_nulls(company_id, deduction_id, token_nonce, token_hash) = 0
        and num_nonnulls(reverses, moved_from, audit_id) = 0
      when 'cancel' then amount_cents > 0 and reverses is not null and company_id is not null
        and num_nonnulls(deduction_id, moved_from, audit_id) = 0
      when 'adjust' then amount_cents <> 0 and audit_id is not null
        and num_nonnulls(company_id, deduction_id, reverses, moved_from) = 0
      when 'move' then amount_cents <> 0 and num_nonnulls(company_id, deduction_id, reverses) = 0
        and num_nulls(moved_from, moved_from_card) = (case when amount_cents > 0 then 0 else 2 end)
        and moved_from_card is distinct from card_id
      else false
    end
  );
-- A card gets its first money once, when it is issued or activated.
create unique index ledger_issued_once on ledger (card_id) where kind = 'issue';
create unique index ledger_moved_once on ledger (moved_from) where moved_from is not null;
-- Rows come in the order of their time, so that a summary of each stretch of the table is enough.
create index ledger_created on ledger using brin (created_at) with (pages_per_range = 32, autosummarize = on);

-- Takes cents off one card and puts them onto another. Whoever calls it holds both rows, the older card's first.
create function move_cents(p_from bigint, p_to bigint, p_cents bigint, p_audit bigint) returns void language plpgsql as $$
declare
  v_out bigint;
begin
  insert into ledger (card_id, kind, amount_cents, audit_id) values (p_from, 'move', -p_cents, p_audit)
    returning id into v_out;
  insert into ledger (card_id, kind, amount_cents, moved_from, moved_from_card, audit_id)
    values (p_to, 'move', p_cents, v_out, p_from, p_audit);
end $$;

-- Puts a deduction back; where its card was reissued, the money goes on to the card that stands for it now. `outcome` is
-- 'done' or 'token_used'.
create or replace function reverse_deduction(
  p_ledger bigint, out outcome text, out refunded_cents bigint, out balance_cents bigint
) language plpgsql as $$
declare
  v_deduction ledger;
  v_card cards;
begin
  select * into strict v_deduction from ledger where id = p_ledger;
  -- Whoever comes second waits here, and then sees the first one's row.
  select * into strict v_card from cards c where c.id = v_deduction.card_id for no key update;
  if exists (select from ledger l where l.reverses = p_ledger) then
    outcome := 'token_used';
    return;
  end if;
  insert into ledger (card_id, kind, amount_cents, company_id, reverses)
    values (v_deduction.card_id, 'cancel', v_deduction.refund_cents, v_deduction.company_id, p_ledger);
  while v_card.reissued_as is not null loop
    select * into strict v_card from cards c where c.id = v_card.reissued_as for no key update;
  end loop;
  if v_card.id <> v_deduction.card_id then
    perform move_cents(v_deduction.card_id, v_card.id, v_deduction.refund_cents, null);
  end if;
  outcome := 'done';
  refunded_cents := v_deduction.refund_cents;
  balance_cents := v_card.balance_cents + v_deduction.refund_cents;
end $$;

-- Lets a number's wrong guesses go, that number's alone; until when it was locked, or null.
create function unlock_number(p_subject bytea) returns timestamptz language plpgsql as $$
declare
  v_until timestamptz;
begin
  perform lock_subject(p_subject);
  delete from failed_attempts where subject = p_subject returning locked_until into v_until;
  return case when v_until > clock_timestamp() then v_until end;
end $$;

alter table api_keys
  add column label text,
  -- From then on it is refused.
  add column expires_at timestamptz,
  -- To the minute, when there were calls with it.
  add column last_used_at timestamptz,
  -- Made by a login, not by the operator: past a company's bound such a key gives way to a new one.
  add column by_login boolean not null default false;
-- Makes the key of a login whose password was right. 'refused': the password was changed meanwhile, or the company closed.
-- 'full': the company has as many living keys as it may, and no login's key among them was unused for a day.
create function make_login_key(p_account integer, p_password_hash text, p_key bytea, p_bound integer) returns text
language plpgsql as $$
declare
  v_company integer;
  v_living bigint;
begin
  -- Logins of one company come one after the other, and neither is between a new password and the end of its keys.
  select c.id into v_company from accounts a join companies c on c.id = a.company_id
    where a.id = p_account and a.password_hash = p_password_hash and c.closed_at is null
    for share of a for no key update of c;
  if not found then
    return 'refused';
  end if;
  select count(*) into v_living from api_keys
    where company_id = v_company and revoked_at is null and (expires_at is null or expires_at > now());
  if p_bound > 0 and v_living >= p_bound then
    update api_keys set revoked_at = now() where id = (
      select id from api_keys where company_id = v_company and by_login and revoked_at is null
        and coalesce(last_used_at, created_at) < now() - interval '1 day'
        order by coalesce(last_used_at, created_at) limit 1);
    if not found then
      return 'full';
    end if;
  end if;
  insert into api_keys (company_id, key_hash, by_login) values (v_company, p_key, true);
  return 'done';
end $$;

create index api_keys_spent on api_keys (least(revoked_at, expires_at))
  where revoked_at is not null or expires_at is not null;

-- What an API key, or all keys of a company together, have been granted in the last minute: 30 slots of two seconds, newest
-- first.
create table call_usage (
  kind text not null check (kind in ('key', 'company')),
  id bigint not null,
  slot bigint not null,
  granted integer[] not null,
  primary key (kind, id)
) with (fillfactor = 50);
insert into call_usage (kind, id, slot, granted) select 'key', key_id, slot, granted from key_usage;

drop function lease_calls(bigint, integer, integer, integer, bigint);
-- Grants a process calls for the rest of this slot, and takes back what it did not use of an earlier grant.
create function lease_calls(
  p_id bigint, p_limit integer, p_block integer, p_unused integer, p_unused_slot bigint, p_kind text default 'key',
  out calls integer, out lease_slot bigint, out valid_ms integer, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_slots constant integer := 30;
  v_slot_ms constant integer := 2000;
  v_known call_usage;
  v_now_ms bigint;
  v_shift integer;
  v_oldest integer;
begin
  -- What nobody used for long is swept away, at any moment.
  loop
    select * into v_known from call_usage where kind = p_kind and id = p_id for update;
    exit when found;
    insert into call_usage (kind, id, slot, granted) values (p_kind, p_id, 0, array_fill(0, array[v_slots]))
      on conflict do nothing;
  end loop;
  v_now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
  -- A clock that was set back does not reopen slots.
  lease_slot := greatest(v_now_ms / v_slot_ms, v_known.slot);
  v_shift := least(lease_slot - v_known.slot, v_slots);
  if v_shift > 0 then
    v_known.granted := array_fill(0, array[v_shift]) || v_known.granted[1:v_slots - v_shift];
  end if;
  if p_unused > 0 and lease_slot - p_unused_slot < v_slots then
    v_oldest := lease_slot - p_unused_slot + 1;
    v_known.granted[v_oldest] := greatest(v_known.granted[v_oldest] - p_unused, 0);
  end if;
  calls := greatest(least(p_block, p_limit - (select sum(n) from unnest(v_known.granted) n)), 0);
  v_known.granted[1] := v_known.granted[1] + calls;
  valid_ms := (lease_slot + 1) * v_slot_ms - v_now_ms;
  if calls = 0 then
    select max(place) into v_oldest from unnest(v_known.granted) with ordinality as g (n, place) where n > 0;
    retry_after_seconds := greatest(
      ceil(((lease_slot - coalesce(v_oldest, 1) + 1 + v_slots) * v_slot_ms - v_now_ms) / 1000.0), 1);
  end if;
  update call_usage set slot = lease_slot, granted = v_known.granted where kind = p_kind and id = p_id;
end $$;
drop table key_usage;

-- Wrong PINs and unknown numbers that a company sent, over all cards, by the minute of the clock.
create table wrong_pins (
  company_id integer not null references companies,
  minute bigint not null,
  failures integer not null,
  primary key (company_id, minute)
) with (fillfactor = 50);

-- Counts one; how many seconds until the company may try again, or null while it is below its limit.
create function count_wrong_pin(p_company integer, p_limit integer, p_window_seconds integer) returns integer
language plpgsql as $$
declare
  v_minute bigint := floor(extract(epoch from clock_timestamp()) / 60);
  v_window integer := ceil(p_window_seconds / 60.0);
  v_last bigint;
begin
  insert into wrong_pins as w (company_id, minute, failures) values (p_company, v_minute, 1)
    on conflict (company_id, minute) do update set failures = w.failures + 1;
  -- The latest minute that has to leave the window before fewer than the limit are in it.
  select max(minute) into v_last from (
    select minute, sum(failures) over (order by minute desc) as since from wrong_pins
      where company_id = p_company and minute > v_minute - v_window
  ) recent where since >= p_limit;
  return ceil((v_last + v_window) * 60 - extract(epoch from clock_timestamp()));
end $$;
