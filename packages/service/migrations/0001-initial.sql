-- The service's tables and functions. Amounts are whole cents. Secrets are stored as hashes only.

-- The generations of the service's secrets, oldest first. New values are hashed under the newest generation; an older card is
-- rehashed when its right PIN is next used. `key_check` proves that the secrets file holds the generation.
create table secret_generations (
  id integer primary key,
  key_check bytea not null unique,
  created_at timestamptz not null default now()
);

-- What this database's cards are: real money, or for testing. The first service that starts on the database records it.
create table environment (
  is_only boolean primary key default true check (is_only),
  name text not null,
  constraint environment_name_check check (name in ('live', 'sandbox'))
);

create table companies (
  id integer generated always as identity primary key,
  name text not null,
  created_at timestamptz not null default now(),
  -- While a company is suspended, its keys and logins are refused, but its keys can cancel devalues: the money goes back to
  -- the card that it came from.
  suspended_at timestamptz,
  closed_at timestamptz
);

create table accounts (
  id integer generated always as identity primary key,
  company_id integer not null references companies,
  email text not null,
  password_hash text not null,
  created_at timestamptz not null default now(),
  password_generation integer not null default 1
);
create unique index accounts_email on accounts (lower(email));

create table api_keys (
  id bigint generated always as identity primary key,
  company_id integer not null references companies,
  key_hash bytea not null unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  label text,
  -- The key is rejected from this moment on.
  expires_at timestamptz,
  -- Rounded to the minute.
  last_used_at timestamptz,
  -- Whether a login made the key, not the operator. If a company has too many keys, a new login replaces such a key.
  by_login boolean not null default false
);
create index api_keys_company on api_keys (company_id, id);
create index api_keys_spent on api_keys (least(revoked_at, expires_at))
  where revoked_at is not null or expires_at is not null;

create table providers (
  id integer generated always as identity primary key,
  name text not null unique
);

create table event_concepts (
  id integer generated always as identity primary key,
  company_id integer not null references companies,
  provider_id integer not null references providers,
  representative text not null,
  register text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index event_concepts_company on event_concepts (company_id, id);

create table events (
  id integer generated always as identity primary key,
  company_id integer not null references companies,
  provider_id integer not null references providers,
  name text not null,
  organiser text not null,
  start_date date not null,
  start_time time not null,
  end_date date,
  end_time time,
  ticket_link text not null,
  building_name text not null default '',
  street_name text not null default '',
  street_number text not null default '',
  zip_code text not null default '',
  city text not null default '',
  country text not null default '',
  poster_url text not null default '',
  banner_url text not null default '',
  introduction_text text not null default '',
  genre text not null default '',
  activated smallint not null default 0 check (activated in (0, 1)),
  event_key text,
  lineup text not null default '',
  minimum_age text not null default '',
  price text not null default '',
  video_url text not null default '',
  event_link text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index events_company on events (company_id, id);
create unique index events_key on events (company_id, event_key);

-- The size of a company's events, kept by triggers.
create table company_storage (
  company_id integer primary key references companies,
  events integer not null default 0,
  event_bytes bigint not null default 0
) with (fillfactor = 50);

-- Adds the rows of `moved` to the companies' storage, or with the argument -1 subtracts them.
create function move_storage() returns trigger language plpgsql as $$
declare
  v_sign integer := tg_argv[0];
begin
  insert into company_storage as s (company_id, events, event_bytes)
    select company_id, v_sign * count(*), v_sign * sum(octet_length(m::text)) from moved m group by company_id
    order by company_id
    on conflict (company_id) do update
      set events = s.events + excluded.events, event_bytes = s.event_bytes + excluded.event_bytes;
  return null;
end $$;
create trigger events_inserted after insert on events
  referencing new table as moved for each statement execute function move_storage('1');
create trigger events_deleted after delete on events
  referencing old table as moved for each statement execute function move_storage('-1');
-- The service changes no event, but a person may.
create trigger events_changed_new after update on events
  referencing new table as moved for each statement execute function move_storage('1');
create trigger events_changed_old after update on events
  referencing old table as moved for each statement execute function move_storage('-1');

-- Cards that were issued or imported together.
create table card_batches (
  id bigint generated always as identity primary key,
  origin text not null check (origin in ('issue', 'import')),
  created_at timestamptz not null default now()
);

create table cards (
  id bigint generated always as identity primary key,
  number_hash bytea not null unique,
  pin_hash bytea not null,
  last_four text not null,
  -- The sum of the card's ledger rows. Only the ledger's trigger changes it.
  balance_cents bigint not null default 0 check (balance_cents >= 0),
  expiry_date date not null,
  blocked boolean not null default false,
  created_at timestamptz not null default now(),
  -- The generation of the secrets that hashed number and PIN.
  generation integer not null default 1,
  batch_id bigint references card_batches,
  -- Set until the card is sold: the amount that its activation puts on it. Until then the card is empty.
  inactive_cents bigint check (inactive_cents >= 0),
  -- The card that replaced this one.
  reissued_as bigint references cards,
  constraint cards_inactive_is_empty check (inactive_cents is null or balance_cents = 0)
) with (fillfactor = 80);
create index cards_batch on cards (batch_id, id) where batch_id is not null;
create unique index cards_reissued_as on cards (reissued_as) where reissued_as is not null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% of % is refused: %', lower(tg_op), tg_table_name, tg_argv[0] using errcode = 'restrict_violation';
end $$;

-- One row for each command that changed something. Rows are never changed or deleted, and hold no card number, PIN,
-- password, token or API key.
create table audit_log (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  -- The name that the operator gave, by default that of the account on the machine; and the account in any case.
  operator text not null,
  os_user text not null,
  -- The command, such as "card adjust".
  action text not null,
  reason text,
  card_id bigint references cards,
  batch_id bigint references card_batches,
  company_id integer references companies,
  details jsonb not null default '{}'
);
create index audit_log_card on audit_log (card_id) where card_id is not null;
create index audit_log_batch on audit_log (batch_id) where batch_id is not null;
create index audit_log_company on audit_log (company_id) where company_id is not null;
create index audit_log_created on audit_log (created_at);
create trigger audit_log_is_append_only before update or delete on audit_log
  for each row execute function refuse_change('the audit log is append-only');
create trigger audit_log_is_kept before truncate on audit_log
  for each statement execute function refuse_change('the audit log is append-only');

-- The rules for a row of the ledger, by its kind. A function, since PostgreSQL parses the expression of a constraint again at
-- each statement: as an expression, this took a quarter of the time of an insert.
create function is_valid_movement(
  p_kind text, p_card bigint, p_amount bigint, p_company integer, p_requested bigint, p_deduction uuid, p_nonce bytea,
  p_token bytea, p_reverses bigint, p_moved_from bigint, p_moved_from_card bigint, p_audit bigint
) returns boolean immutable parallel safe language plpgsql as $$
begin
  return case p_kind
    when 'devalue' then p_amount between -5000 and -1 and p_requested >= -p_amount
      and num_nulls(p_requested, p_company, p_deduction, p_nonce, p_token) = 0
      and num_nonnulls(p_reverses, p_moved_from, p_audit) = 0
    when 'issue' then p_amount > 0 and num_nonnulls(p_company, p_deduction, p_reverses, p_moved_from) = 0
    when 'cancel' then p_amount > 0 and p_reverses is not null and p_company is not null
      and num_nonnulls(p_deduction, p_moved_from, p_audit) = 0
    when 'adjust' then p_amount <> 0 and p_audit is not null
      and num_nonnulls(p_company, p_deduction, p_reverses, p_moved_from) = 0
    when 'expire' then p_amount < 0 and p_audit is not null
      and num_nonnulls(p_company, p_deduction, p_reverses, p_moved_from) = 0
    when 'move' then p_amount <> 0 and num_nonnulls(p_company, p_deduction, p_reverses) = 0
      and num_nulls(p_moved_from, p_moved_from_card) = (case when p_amount > 0 then 0 else 2 end)
      and p_moved_from_card is distinct from p_card
    else false
  end;
end $$;

-- Every movement of money. Rows are never changed or deleted.
create table ledger (
  id bigint generated always as identity primary key,
  card_id bigint not null references cards,
  kind text not null,
  amount_cents bigint not null,
  -- Of a devalue: the company, the requested amount, and the cancel token, which is derived from deduction_id and nonce.
  company_id integer references companies,
  requested_cents bigint,
  deduction_id uuid,
  token_nonce bytea,
  token_hash bytea,
  -- Of a cancel: the devalue that it reverses.
  reverses bigint,
  refund_cents bigint generated always as (-amount_cents) stored,
  created_at timestamptz not null default now(),
  -- The audit entry if a person made the row. An adjustment always has one.
  audit_id bigint references audit_log,
  -- Of the second half of a move: the row that took the amount off the other card, and that card.
  moved_from bigint,
  moved_from_card bigint,
  unique (id, card_id, refund_cents),
  -- A cancel puts exactly the deducted amount back onto the same card.
  foreign key (reverses, card_id, amount_cents) references ledger (id, card_id, refund_cents),
  -- A move puts exactly the amount onto a card that it took off the other one.
  foreign key (moved_from, moved_from_card, amount_cents) references ledger (id, card_id, refund_cents),
  constraint ledger_check check (is_valid_movement(kind, card_id, amount_cents, company_id, requested_cents, deduction_id,
    token_nonce, token_hash, reverses, moved_from, moved_from_card, audit_id))
);
create index ledger_card on ledger (card_id, id);
-- A card gets its first money once, when it is issued or activated.
create unique index ledger_issued_once on ledger (card_id) where kind = 'issue';
-- Most rows reverse nothing, so the index holds only those that do. It allows one cancel for each devalue.
create unique index ledger_reversed_once on ledger (reverses) where reverses is not null;
create unique index ledger_moved_once on ledger (moved_from) where moved_from is not null;
create unique index ledger_token on ledger (token_hash) where token_hash is not null;
-- Rows are inserted in the order of their time, so a summary of each block range is enough.
create index ledger_created on ledger using brin (created_at) with (pages_per_range = 32, autosummarize = on);

create function ledger_moves_balance() returns trigger language plpgsql as $$
begin
  update cards set balance_cents = balance_cents + new.amount_cents where id = new.card_id;
  return null;
end $$;
create trigger ledger_moves_balance after insert on ledger
  for each row execute function ledger_moves_balance();
create trigger ledger_is_append_only before update or delete on ledger
  for each row execute function refuse_change('the ledger is append-only');
create trigger ledger_is_kept before truncate on ledger
  for each statement execute function refuse_change('the ledger is append-only');
-- The ledger's own trigger updates the balance at trigger depth 1; an update by hand has depth 0.
create trigger balance_is_the_ledgers before update on cards
  for each row when (pg_trigger_depth() = 0 and old.balance_cents is distinct from new.balance_cents)
  execute function refuse_change('the balance is the sum of the ledger, so insert there');
create trigger card_begins_empty before insert on cards
  for each row when (new.balance_cents <> 0)
  execute function refuse_change('the balance is the sum of the ledger, so insert there');

-- Keys that took money or created events are kept for good, and so are keys that were closed before their devalue came.
create table idempotency_keys (
  company_id integer not null references companies,
  operation text not null check (operation in ('devalue', 'newevent')),
  key_hash bytea not null,
  -- Null for a key that was closed before its devalue came.
  parameters_hash bytea,
  ledger_id bigint references ledger,
  answer text,
  created_at timestamptz not null default now(),
  primary key (company_id, operation, key_hash)
);
-- Stored answers expire after 24 hours. The sweep finds them by this index.
create index idempotency_keys_answered on idempotency_keys (created_at) where answer is not null;

-- Keys that were closed before their devalue came.
create index idempotency_keys_closed on idempotency_keys (company_id, created_at)
  where operation = 'devalue' and ledger_id is null;

-- A card works through the whole of its expiry date, by the clock in Amsterdam.
create function card_status(card cards) returns text stable language sql
  return case
    when (card).blocked or (card).inactive_cents is not null or (card).reissued_as is not null then 'Blocked'
    when (card).expiry_date < (now() at time zone 'Europe/Amsterdam')::date then 'Expired'
    when (card).balance_cents = 0 then 'No balance'
    else 'Active'
  end;

-- Takes a lock until the transaction ends. If it does not wait, returns false if the lock is held.
create function take_lock(p_lock bigint, p_waits boolean) returns boolean language plpgsql as $$
begin
  if p_waits then
    perform pg_advisory_xact_lock(p_lock);
    return true;
  end if;
  return pg_try_advisory_xact_lock(p_lock);
end $$;

-- Makes calls with the same key wait for each other. Two keys with the same hash only wait.
create function lock_idempotency_key(p_company integer, p_operation text, p_key bytea, p_waits boolean default true)
returns boolean language plpgsql as $$
begin
  return take_lock(hashtextextended(concat_ws(':', p_company, p_operation, encode(p_key, 'hex')), 0), p_waits);
end $$;

-- Wrong guesses, by the keyed hash of their subject: a card number, an account or an address.
create table failed_attempts (
  subject bytea primary key,
  -- The failures within the window, oldest first.
  failed_at timestamptz[] not null,
  lock_count integer not null default 0,
  locked_until timestamptz,
  -- The failures since `slow_since`, which a lock does not reset.
  slow_failures integer not null default 0,
  slow_since timestamptz,
  -- The row has no effect from this moment on.
  expires_at timestamptz not null
);
create index failed_attempts_expired on failed_attempts (expires_at);

-- This number of failures within the window locks a card number. Each further lock is twice as long, up to the longest.
-- A lock that ended longer ago than the longest lock lasts is forgotten. `slow_failures` within `slow_window_seconds` lock a
-- card number until a person unlocks it; 0 sets no limit.
create type lockout_rule as (
  failures integer, window_seconds integer, lock_seconds integer, longest_lock_seconds integer, slow_failures integer,
  slow_window_seconds integer
);

-- Makes guesses at one subject wait for each other, so that each is judged by all earlier ones. The lock writes nothing.
create function lock_subject(p_subject bytea, p_waits boolean default true) returns boolean language plpgsql as $$
begin
  return take_lock(hashtextextended(encode(p_subject, 'hex'), 1), p_waits);
end $$;

-- Returns for how many more seconds a locked number stays locked, or null; for a lock without an end, a day. The caller
-- holds the lock of `lock_subject`.
create function locked_seconds(p_subject bytea) returns integer language plpgsql as $$
declare
  v_until timestamptz;
begin
  select locked_until into v_until from failed_attempts where subject = p_subject;
  if v_until = 'infinity' then
    return 86400;
  elsif v_until > clock_timestamp() then
    return ceil(extract(epoch from v_until - clock_timestamp()));
  end if;
  return null;
end $$;

-- Counts a wrong guess. The last failure that the rule allows locks the number.
create function count_failure(p_subject bytea, p_rule lockout_rule) returns void language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_window interval := make_interval(secs => p_rule.window_seconds);
  v_slow_window interval := make_interval(secs => p_rule.slow_window_seconds);
  v_longest interval := make_interval(secs => p_rule.longest_lock_seconds);
  v_known failed_attempts;
begin
  select * into v_known from failed_attempts where subject = p_subject;
  v_known.failed_at := array(select t from unnest(v_known.failed_at) t where t > v_now - v_window) || v_now;
  if v_known.slow_since > v_now - v_slow_window then
    v_known.slow_failures := v_known.slow_failures + 1;
  else
    v_known.slow_since := v_now;
    v_known.slow_failures := 1;
  end if;
  if cardinality(v_known.failed_at) >= p_rule.failures then
    v_known.lock_count := case when v_known.locked_until > v_now - v_longest then v_known.lock_count + 1 else 1 end;
    v_known.locked_until := v_now + least(
      v_longest, make_interval(secs => p_rule.lock_seconds * 2 ^ least(v_known.lock_count - 1, 24)));
    v_known.failed_at := '{}';
  end if;
  if p_rule.slow_failures > 0 and v_known.slow_failures >= p_rule.slow_failures then
    v_known.locked_until := 'infinity';
  end if;
  insert into failed_attempts as f
      (subject, failed_at, lock_count, locked_until, slow_failures, slow_since, expires_at)
    values (p_subject, v_known.failed_at, coalesce(v_known.lock_count, 0), v_known.locked_until, v_known.slow_failures,
      v_known.slow_since, greatest(v_now + v_window, v_known.locked_until + v_longest, v_known.slow_since + v_slow_window))
    on conflict (subject) do update set failed_at = excluded.failed_at, lock_count = excluded.lock_count,
      locked_until = excluded.locked_until, slow_failures = excluded.slow_failures, slow_since = excluded.slow_since,
      expires_at = excluded.expires_at;
end $$;

-- Forgets the wrong guesses at this number alone. Returns until when the number was locked, or null.
create function unlock_number(p_subject bytea) returns timestamptz language plpgsql as $$
declare
  v_until timestamptz;
begin
  perform lock_subject(p_subject);
  delete from failed_attempts where subject = p_subject returning locked_until into v_until;
  return case when v_until > clock_timestamp() then v_until end;
end $$;

-- Counts a login before its password is checked, so that concurrent logins cannot exceed the limit. Returns `counted_at`, or
-- in `retry_after_seconds` how long the caller must wait. All callers lock the subjects in the same order.
create function begin_login(
  p_subjects bytea[], p_failures integer, p_window_seconds integer,
  out retry_after_seconds integer, out counted_at text
) language plpgsql as $$
declare
  v_subject bytea;
  v_now timestamptz;
  v_window interval := make_interval(secs => p_window_seconds);
  v_first timestamptz;
begin
  foreach v_subject in array p_subjects loop
    perform lock_subject(v_subject);
  end loop;
  v_now := clock_timestamp();
  select max(recent.nth) into v_first from (
    select (array_agg(t order by t desc))[p_failures] as nth
      from failed_attempts f, unnest(f.failed_at) t
      where f.subject = any(p_subjects) and t > v_now - v_window group by f.subject
  ) recent;
  if v_first is not null then
    retry_after_seconds := ceil(extract(epoch from v_first + v_window - v_now));
    return;
  end if;
  counted_at := v_now::text;
  insert into failed_attempts as f (subject, failed_at, expires_at)
    select s, array[v_now], v_now + v_window from unnest(p_subjects) s
    on conflict (subject) do update set expires_at = excluded.expires_at,
      failed_at = array(select t from unnest(f.failed_at) t where t > v_now - v_window) || v_now;
end $$;

-- Removes the count of a login whose password was right.
create function end_login(p_subjects bytea[], p_counted_at text) returns void language sql as $$
  update failed_attempts set failed_at = array_remove(failed_at, p_counted_at::timestamptz)
    where subject = any(p_subjects);
$$;

-- Makes the key of a login whose password was right. Returns 'refused' if the password was changed meanwhile or the company
-- is closed or suspended, and 'full' if the company has all the active keys that it may have and no login's key was unused for a day.
create function make_login_key(p_account integer, p_password_hash text, p_key bytea, p_bound integer) returns text
language plpgsql as $$
declare
  v_company integer;
  v_living bigint;
begin
  -- Serializes the logins of a company, also with a change of password that revokes its keys.
  select c.id into v_company from accounts a join companies c on c.id = a.company_id
    where a.id = p_account and a.password_hash = p_password_hash and c.closed_at is null
      and c.suspended_at is null
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

-- Calls granted to an API key, or to all keys of a company together, in the last minute: 30 slots of two seconds, newest
-- first.
create table call_usage (
  kind text not null check (kind in ('key', 'company')),
  id bigint not null,
  slot bigint not null,
  granted integer[] not null,
  primary key (kind, id)
) with (fillfactor = 50);

-- Grants a process calls for the rest of this slot, and takes back what it did not use of an earlier grant.
create function lease_calls(
  p_id bigint, p_limit integer, p_block integer, p_unused integer, p_unused_slot bigint, p_kind text,
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
  -- The sweep may delete the row at any moment.
  loop
    select * into v_known from call_usage where kind = p_kind and id = p_id for update;
    exit when found;
    insert into call_usage (kind, id, slot, granted) values (p_kind, p_id, 0, array_fill(0, array[v_slots]))
      on conflict do nothing;
  end loop;
  v_now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
  lease_slot := v_now_ms / v_slot_ms;
  -- The clock was set back, or another server's clock is behind: the age of the counted calls is unknown.
  if lease_slot < v_known.slot then
    v_known.granted := array_fill(0, array[v_slots]);
    v_known.slot := lease_slot;
  end if;
  v_shift := least(lease_slot - v_known.slot, v_slots);
  if v_shift > 0 then
    v_known.granted := array_fill(0, array[v_shift]) || v_known.granted[1:v_slots - v_shift];
  end if;
  if p_unused > 0 and lease_slot - p_unused_slot between 0 and v_slots - 1 then
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

-- Wrong PINs and unknown numbers of a company over all cards, by minute.
create table wrong_pins (
  company_id integer not null references companies,
  minute bigint not null,
  failures integer not null,
  primary key (company_id, minute)
) with (fillfactor = 50);

-- Counts a wrong PIN. Returns after how many seconds the company may try again, or null below the limit.
create function count_wrong_pin(p_company integer, p_limit integer, p_window_seconds integer) returns integer
language plpgsql as $$
declare
  v_minute bigint := floor(extract(epoch from clock_timestamp()) / 60);
  v_window integer := ceil(p_window_seconds / 60.0);
  v_last bigint;
begin
  insert into wrong_pins as w (company_id, minute, failures) values (p_company, v_minute, 1)
    on conflict (company_id, minute) do update set failures = w.failures + 1;
  -- The latest minute that must leave the window before the count is below the limit.
  select max(minute) into v_last from (
    select minute, sum(failures) over (order by minute desc) as since from wrong_pins
      where company_id = p_company and minute > v_minute - v_window
  ) recent where since >= p_limit;
  return ceil((v_last + v_window) * 60 - extract(epoch from clock_timestamp()));
end $$;

-- Rehashes a card under the newest generation of secrets, after its PIN was right. Never waits: if another transaction has
-- locked the card, its next use rehashes it.
create function renew_card(p_card cards, p_generation integer, p_numbers bytea[], p_pins bytea[]) returns void
language sql as $$
  update cards set number_hash = p_numbers[p_generation], pin_hash = p_pins[p_generation], generation = p_generation
    where id = (select id from cards where id = p_card.id for no key update skip locked);
$$;

-- Deducts the smallest of the amount, the balance and the limit. `outcome` is 'done', 'replayed' or an error code.
-- A wrong PIN and an unknown number take the same path, and are counted alike.
--
-- Number and PIN are hashed under each generation of secrets that the process knows, oldest first. Guesses are counted by
-- the first hash of the number. `outcome` is 'stale' if the process lacks the newest generation: it must reload its secrets.
--
-- `outcome` is 'unauthorized' if the API key is not an active one of the company, or the company is suspended.
--
-- A statement of several devalues must not wait for a lock: it would delay the others, and two such statements could
-- deadlock. So without `p_waits`, `outcome` is 'busy' if a lock is held, and the caller retries this devalue alone. Then
-- nothing was changed.
create function devalue(
  p_waits boolean, p_company integer, p_api_key bytea, p_numbers bytea[], p_pins bytea[], p_rule lockout_rule,
  p_amount bigint, p_limit bigint, p_deduction uuid, p_nonce bytea, p_token bytea, p_key bytea, p_parameters bytea[],
  out outcome text, out deducted_cents bigint, out deduction_id uuid, out token_nonce bytea, out token_hash bytea,
  out retry_after_seconds integer
) language plpgsql as $$
declare
  v_generation integer;
  v_is_living boolean;
  v_key idempotency_keys;
  v_id bigint;
  v_card cards;
  v_ledger bigint;
begin
  select max(id), exists (
      select from api_keys k join companies o on o.id = k.company_id and o.suspended_at is null
        where k.key_hash = p_api_key and k.company_id = p_company and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > clock_timestamp()))
    into v_generation, v_is_living from secret_generations;
  if not v_is_living then
    outcome := 'unauthorized';
    return;
  end if;
  if v_generation > cardinality(p_numbers) then
    outcome := 'stale';
    return;
  end if;
  if p_key is not null then
    if not lock_idempotency_key(p_company, 'devalue', p_key, p_waits) then
      outcome := 'busy';
      return;
    end if;
    select * into v_key from idempotency_keys k
      where k.company_id = p_company and k.operation = 'devalue' and k.key_hash = p_key;
    if found then
      outcome := case
        when v_key.ledger_id is null then 'key_closed'
        when v_key.parameters_hash <> all (p_parameters) then 'idempotency_key_reused'
        when v_key.created_at <= now() - interval '24 hours' then 'idempotency_key_spent'
        else 'replayed'
      end;
      if outcome = 'replayed' then
        select l.refund_cents, l.deduction_id, l.token_nonce, l.token_hash
          into deducted_cents, deduction_id, token_nonce, token_hash
          from ledger l where l.id = v_key.ledger_id;
      end if;
      return;
    end if;
  end if;

  if not lock_subject(p_numbers[1], p_waits) then
    outcome := 'busy';
    return;
  end if;
  retry_after_seconds := locked_seconds(p_numbers[1]);
  if retry_after_seconds is not null then
    outcome := 'card_locked';
    return;
  end if;
  if p_waits then
    select * into v_card from cards c
      where c.number_hash = p_numbers[v_generation] and c.pin_hash = p_pins[v_generation] for no key update;
  else
    select * into v_card from cards c
      where c.number_hash = p_numbers[v_generation] and c.pin_hash = p_pins[v_generation] for no key update skip locked;
  end if;
  if not found then
    -- Maybe it is locked, or hashed under an older generation. Not looked up by a list of hashes at first, since PostgreSQL
    -- plans such a query anew at each call.
    select c.id into v_id from cards c where c.number_hash = any (p_numbers) and c.pin_hash = p_pins[c.generation];
    if not found then
      perform count_failure(p_numbers[1], p_rule);
      outcome := 'invalid_card';
      return;
    end if;
    if not p_waits then
      outcome := 'busy';
      return;
    end if;
    select * into strict v_card from cards c where c.id = v_id for no key update;
  end if;
  if v_card.generation < v_generation then
    perform renew_card(v_card, v_generation, p_numbers, p_pins);
  end if;
  outcome := case card_status(v_card)
    when 'Active' then 'done'
    when 'Blocked' then 'card_blocked'
    when 'Expired' then 'card_expired'
    else 'card_no_balance'
  end;
  if outcome <> 'done' then
    return;
  end if;
  deducted_cents := least(p_amount, v_card.balance_cents, p_limit);
  deduction_id := p_deduction;
  token_nonce := p_nonce;
  token_hash := p_token;
  insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
    values (v_card.id, 'devalue', -deducted_cents, p_company, p_amount, p_deduction, p_nonce, p_token)
    returning id into v_ledger;
  if p_key is not null then
    insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, ledger_id)
      values (p_company, 'devalue', p_key, p_parameters[cardinality(p_parameters)], v_ledger);
  end if;
end $$;

-- Moves cents from one card to another. The caller holds both rows, and locked the older card first.
create function move_cents(p_from bigint, p_to bigint, p_cents bigint, p_audit bigint) returns void language plpgsql as $$
declare
  v_out bigint;
begin
  insert into ledger (card_id, kind, amount_cents, audit_id) values (p_from, 'move', -p_cents, p_audit)
    returning id into v_out;
  insert into ledger (card_id, kind, amount_cents, moved_from, moved_from_card, audit_id)
    values (p_to, 'move', p_cents, v_out, p_from, p_audit);
end $$;

-- Reverses a deduction. If its card was reissued, the money moves on to the present card. `outcome` is 'done' or
-- 'token_used'.
create function reverse_deduction(
  p_ledger bigint, out outcome text, out refunded_cents bigint, out balance_cents bigint
) language plpgsql as $$
declare
  v_deduction ledger;
  v_card cards;
begin
  select * into strict v_deduction from ledger where id = p_ledger;
  -- A concurrent cancel waits here, and then finds the first one's row.
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

-- Cancels by token. `outcome` is 'done' or an error code.
create function cancel_by_token(
  p_company integer, p_token bytea, out outcome text, out refunded_cents bigint, out balance_cents bigint
) language plpgsql as $$
declare
  v_ledger bigint;
begin
  select id into v_ledger from ledger where token_hash = p_token and company_id = p_company;
  if not found then
    outcome := 'token_invalid';
    return;
  end if;
  select r.* into outcome, refunded_cents, balance_cents from reverse_deduction(v_ledger) r;
end $$;

-- Resolves a devalue by its key: reverses it, or closes the key so that the devalue never happens. A company closes at most
-- `p_closings` keys in 24 hours, since each is kept for good; 0 sets no limit.
create function cancel_by_key(
  p_company integer, p_key bytea, p_closings integer,
  out outcome text, out refunded_cents bigint, out balance_cents bigint, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_ledger bigint;
  v_is_known boolean;
  v_nth timestamptz;
begin
  perform lock_idempotency_key(p_company, 'devalue', p_key);
  select ledger_id, true into v_ledger, v_is_known from idempotency_keys
    where company_id = p_company and operation = 'devalue' and key_hash = p_key;
  if v_ledger is not null then
    select r.* into outcome, refunded_cents, balance_cents from reverse_deduction(v_ledger) r;
    return;
  end if;
  if v_is_known is null then
    select created_at into v_nth from idempotency_keys
      where company_id = p_company and operation = 'devalue' and ledger_id is null
        and created_at > now() - interval '24 hours' and p_closings > 0
      order by created_at desc offset greatest(p_closings - 1, 0) limit 1;
    if found then
      outcome := 'rate_limited';
      retry_after_seconds := greatest(1, ceil(extract(epoch from v_nth + interval '24 hours' - now())));
      return;
    end if;
    insert into idempotency_keys (company_id, operation, key_hash) values (p_company, 'devalue', p_key)
      on conflict do nothing;
  end if;
  outcome := 'devalue_not_done';
end $$;

-- Reads a card by number and PIN. API key, generation, guesses and locks are judged as in `devalue`.
create function read_card(
  p_waits boolean, p_company integer, p_api_key bytea, p_numbers bytea[], p_pins bytea[], p_rule lockout_rule,
  out outcome text, out balance_cents bigint, out card_status text, out expiry_date date, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_generation integer;
  v_is_living boolean;
  v_card cards;
begin
  select max(id), exists (
      select from api_keys k join companies o on o.id = k.company_id and o.suspended_at is null
        where k.key_hash = p_api_key and k.company_id = p_company and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > clock_timestamp()))
    into v_generation, v_is_living from secret_generations;
  if not v_is_living then
    outcome := 'unauthorized';
    return;
  end if;
  if v_generation > cardinality(p_numbers) then
    outcome := 'stale';
    return;
  end if;
  if not lock_subject(p_numbers[1], p_waits) then
    outcome := 'busy';
    return;
  end if;
  retry_after_seconds := locked_seconds(p_numbers[1]);
  if retry_after_seconds is not null then
    outcome := 'card_locked';
    return;
  end if;
  select * into v_card from cards c
    where c.number_hash = p_numbers[v_generation] and c.pin_hash = p_pins[v_generation];
  if not found and v_generation > 1 then
    select * into v_card from cards c where c.number_hash = any (p_numbers) and c.pin_hash = p_pins[c.generation];
  end if;
  if not found then
    perform count_failure(p_numbers[1], p_rule);
    outcome := 'invalid_card';
    return;
  end if;
  if v_card.generation < v_generation then
    perform renew_card(v_card, v_generation, p_numbers, p_pins);
  end if;
  outcome := 'done';
  balance_cents := v_card.balance_cents;
  card_status := card_status(v_card);
  expiry_date := v_card.expiry_date;
end $$;

-- `check --resume` verifies the rows of the ledger that were added since its last run. What it verified is kept here.

-- Blocks of verified rows. Each digest covers the block's rows and the digest before it.
create table checked_blocks (
  first bigint not null,
  through bigint primary key,
  digest bytea not null,
  checked_at timestamptz not null default now()
);
create trigger checked_blocks_are_append_only before update or delete on checked_blocks
  for each row execute function refuse_change('verified rows stay verified');
create trigger checked_blocks_are_kept before truncate on checked_blocks
  for each statement execute function refuse_change('verified rows stay verified');

-- The sum of each card's verified rows. No foreign key: adding it would lock the cards.
create table checked_cards (
  card_id bigint primary key,
  cents bigint not null
) with (fillfactor = 80);

-- The runs. `rechecked` is the last block whose verified rows were read again.
create table check_runs (
  id bigint generated always as identity primary key,
  checked_at timestamptz not null default now(),
  through bigint not null,
  rechecked bigint not null
);

-- The digest of a block. The columns are listed, since further ones must not change earlier digests.
create function ledger_digest(p_first bigint, p_through bigint, p_before bytea) returns bytea stable language sql as $$
  select sha256(coalesce(p_before, '') || convert_to(coalesce(string_agg(format('%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s',
    id, card_id, kind, amount_cents, company_id, requested_cents, deduction_id, encode(token_nonce, 'hex'),
    encode(token_hash, 'hex'), reverses, extract(epoch from created_at), audit_id, moved_from, moved_from_card),
    e'\n' order by id), ''), 'UTF8'))
    from ledger where id between p_first and p_through
$$;
