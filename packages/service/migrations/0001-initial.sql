-- The service's tables and functions. Amounts are whole cents. Secrets stand here as hashes only.

-- The generations of the service's secrets, oldest first. The newest hashes what is new; an older card is hashed anew at
-- its next right use. Each row proves that the secrets file holds that generation.
create table secret_generations (
  id integer primary key,
  key_check bytea not null unique,
  created_at timestamptz not null default now()
);

create table companies (
  id integer generated always as identity primary key,
  name text not null,
  created_at timestamptz not null default now(),
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
  revoked_at timestamptz
);
create index api_keys_company on api_keys (company_id, id);

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
  -- Of the secrets that hashed number and PIN.
  generation integer not null default 1
) with (fillfactor = 80);

-- Every movement of money, for good: a row is never changed or deleted.
create table ledger (
  id bigint generated always as identity primary key,
  card_id bigint not null references cards,
  kind text not null,
  amount_cents bigint not null,
  -- A devalue: by whom, what was asked for, and its cancel token, which is made from deduction_id and nonce.
  company_id integer references companies,
  requested_cents bigint,
  deduction_id uuid,
  token_nonce bytea,
  token_hash bytea unique,
  -- A cancel: the devalue that it reverses, which no second row can.
  reverses bigint unique,
  refund_cents bigint generated always as (-amount_cents) stored,
  created_at timestamptz not null default now(),
  unique (id, card_id, refund_cents),
  -- What is reloaded is exactly what was deducted, onto the card that it came from.
  foreign key (reverses, card_id, amount_cents) references ledger (id, card_id, refund_cents),
  check (
    case kind
      when 'issue' then amount_cents > 0 and company_id is null and deduction_id is null and reverses is null
      when 'devalue' then amount_cents between -5000 and -1 and requested_cents >= -amount_cents and reverses is null
        and num_nulls(company_id, deduction_id, token_nonce, token_hash) = 0
      when 'cancel' then amount_cents > 0 and reverses is not null and company_id is not null and deduction_id is null
      else false
    end
  )
);
create index ledger_card on ledger (card_id, id);

create function ledger_moves_balance() returns trigger language plpgsql as $$
begin
  update cards set balance_cents = balance_cents + new.amount_cents where id = new.card_id;
  return null;
end $$;
create trigger ledger_moves_balance after insert on ledger
  for each row execute function ledger_moves_balance();

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% of % is refused: %', lower(tg_op), tg_table_name, tg_argv[0] using errcode = 'restrict_violation';
end $$;
create trigger ledger_is_append_only before update or delete on ledger
  for each row execute function refuse_change('the ledger is append-only');
create trigger ledger_is_kept before truncate on ledger
  for each statement execute function refuse_change('the ledger is append-only');
-- Called from the ledger's own trigger, these stand at depth 1; by hand, at depth 0.
create trigger balance_is_the_ledgers before update on cards
  for each row when (pg_trigger_depth() = 0 and old.balance_cents is distinct from new.balance_cents)
  execute function refuse_change('the balance is the sum of the ledger, so insert there');
create trigger card_begins_empty before insert on cards
  for each row when (new.balance_cents <> 0)
  execute function refuse_change('the balance is the sum of the ledger, so insert there');

-- Keys that took money or created events stay for good, and so do those that were closed before they did.
create table idempotency_keys (
  company_id integer not null references companies,
  operation text not null check (operation in ('devalue', 'newevent')),
  key_hash bytea not null,
  -- Null for a key that was closed before a devalue came.
  parameters_hash bytea,
  ledger_id bigint references ledger,
  answer text,
  created_at timestamptz not null default now(),
  primary key (company_id, operation, key_hash)
);
-- Kept answers run out after 24 hours; this finds those whose time has come.
create index idempotency_keys_answered on idempotency_keys (created_at) where answer is not null;

-- The first second of today in Amsterdam decides: a card works through the whole of its expiry date.
create function card_status(card cards) returns text stable language sql
  return case
    when (card).blocked then 'Blocked'
    when (card).expiry_date < (now() at time zone 'Europe/Amsterdam')::date then 'Expired'
    when (card).balance_cents = 0 then 'No balance'
    else 'Active'
  end;

-- Calls with one key wait for each other. The lock goes with the transaction; two keys that share a number only wait.
create function lock_idempotency_key(p_company integer, p_operation text, p_key bytea) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended(concat_ws(':', p_company, p_operation, encode(p_key, 'hex')), 0));
$$;

-- Wrong guesses, by the keyed hash of what was guessed at: a card number, an account or an address.
create table failed_attempts (
  subject bytea primary key,
  -- Within the window, oldest first.
  failed_at timestamptz[] not null,
  lock_count integer not null default 0,
  locked_until timestamptz,
  -- From then on the row says nothing any more.
  expires_at timestamptz not null
);
create index failed_attempts_expired on failed_attempts (expires_at);

-- So many failures within the window lock a number; each further lock is twice as long, up to the longest. Locks that
-- ended longer ago than the longest one lasts are forgotten.
create type lockout_rule as (
  failures integer, window_seconds integer, lock_seconds integer, longest_lock_seconds integer
);

-- Guesses at one subject wait for each other, so that each is judged in the knowledge of all before it. The lock writes
-- nothing, and goes with the transaction.
create function lock_subject(p_subject bytea) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended(encode(p_subject, 'hex'), 1));
$$;

-- Begins a guess: how many seconds the number is still locked, or null.
create function begin_guess(p_subject bytea) returns integer language plpgsql as $$
declare
  v_until timestamptz;
begin
  perform lock_subject(p_subject);
  select locked_until into v_until from failed_attempts where subject = p_subject;
  if v_until > clock_timestamp() then
    return ceil(extract(epoch from v_until - clock_timestamp()));
  end if;
  return null;
end $$;

-- Counts a wrong guess; the last one that the rule allows locks the number.
create function count_failure(p_subject bytea, p_rule lockout_rule) returns void language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_window interval := make_interval(secs => p_rule.window_seconds);
  v_longest interval := make_interval(secs => p_rule.longest_lock_seconds);
  v_known failed_attempts;
begin
  select * into v_known from failed_attempts where subject = p_subject;
  v_known.failed_at := array(select t from unnest(v_known.failed_at) t where t > v_now - v_window) || v_now;
  if cardinality(v_known.failed_at) >= p_rule.failures then
    v_known.lock_count := case when v_known.locked_until > v_now - v_longest then v_known.lock_count + 1 else 1 end;
    v_known.locked_until := v_now + least(
      v_longest, make_interval(secs => p_rule.lock_seconds * 2 ^ least(v_known.lock_count - 1, 24)));
    v_known.failed_at := '{}';
  end if;
  insert into failed_attempts as f (subject, failed_at, lock_count, locked_until, expires_at)
    values (p_subject, v_known.failed_at, coalesce(v_known.lock_count, 0), v_known.locked_until,
      greatest(v_now + v_window, v_known.locked_until + v_longest))
    on conflict (subject) do update set failed_at = excluded.failed_at, lock_count = excluded.lock_count,
      locked_until = excluded.locked_until, expires_at = excluded.expires_at;
end $$;

-- Counts a login before its password is judged, so that of many at once no more are judged than may fail. Either it is
-- counted, or `retry_after_seconds` says how long until it may be. Subjects come in an order that all callers share.
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

-- Takes back what was counted, since the password was right.
create function end_login(p_subjects bytea[], p_counted_at text) returns void language sql as $$
  update failed_attempts set failed_at = array_remove(failed_at, p_counted_at::timestamptz)
    where subject = any(p_subjects);
$$;

-- What an API key has been granted in the last minute, in 30 slots of two seconds, newest first.
create table key_usage (
  key_id bigint primary key references api_keys,
  slot bigint not null,
  granted integer[] not null
) with (fillfactor = 50);

-- Grants a process calls of a key for the rest of this slot, and takes back what it did not use of an earlier grant.
create function lease_calls(
  p_key bigint, p_limit integer, p_block integer, p_unused integer, p_unused_slot bigint,
  out calls integer, out lease_slot bigint, out valid_ms integer, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_slots constant integer := 30;
  v_slot_ms constant integer := 2000;
  v_known key_usage;
  v_now_ms bigint;
  v_shift integer;
  v_oldest integer;
begin
  insert into key_usage (key_id, slot, granted) values (p_key, 0, array_fill(0, array[v_slots]))
    on conflict do nothing;
  select * into strict v_known from key_usage where key_id = p_key for update;
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
  update key_usage set slot = lease_slot, granted = v_known.granted where key_id = p_key;
end $$;

-- Hashes a card under the newest generation of secrets, after its PIN was right.
create function renew_card(p_card cards, p_generation integer, p_numbers bytea[], p_pins bytea[]) returns void
language sql as $$
  update cards set number_hash = p_numbers[p_generation], pin_hash = p_pins[p_generation], generation = p_generation
    where id = p_card.id;
$$;

-- Deducts the smallest of the amount, the balance and the limit. `outcome` is 'done', 'replayed' or an error code.
-- A wrong PIN and an unknown number take the same path, and are counted alike.
--
-- A number and PIN come hashed under each generation of secrets that the process knows, oldest first; the first number
-- is what guesses are counted by. `outcome` 'stale' asks the process to read its secrets again: it lacks the newest.
create function devalue(
  p_company integer, p_numbers bytea[], p_pins bytea[], p_amount bigint, p_limit bigint,
  p_deduction uuid, p_nonce bytea, p_token bytea, p_key bytea, p_parameters bytea[], p_rule lockout_rule,
  out outcome text, out deducted_cents bigint, out deduction_id uuid, out token_nonce bytea, out token_hash bytea,
  out retry_after_seconds integer
) language plpgsql as $$
declare
  v_generation integer := (select max(id) from secret_generations);
  v_key idempotency_keys;
  v_card cards;
  v_ledger bigint;
begin
  if v_generation > cardinality(p_numbers) then
    outcome := 'stale';
    return;
  end if;
  if p_key is not null then
    perform lock_idempotency_key(p_company, 'devalue', p_key);
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

  retry_after_seconds := begin_guess(p_numbers[1]);
  if retry_after_seconds is not null then
    outcome := 'card_locked';
    return;
  end if;
  -- Two statements, since the planner would plan one with a list of hashes anew at each call.
  select * into v_card from cards c
    where c.number_hash = p_numbers[v_generation] and c.pin_hash = p_pins[v_generation] for no key update;
  if not found and v_generation > 1 then
    select * into v_card from cards c
      where c.number_hash = any (p_numbers) and c.pin_hash = p_pins[c.generation] for no key update;
  end if;
  if not found then
    perform count_failure(p_numbers[1], p_rule);
    outcome := 'invalid_card';
    return;
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

-- A devalue that stands in one statement with others must not wait for a lock: it would hold them up, and two batches
-- could wait for each other. So it tries the locks that `devalue` takes, and is 'busy' where one is taken; it is then
-- done alone. Wrong PINs and unknown numbers find no row to lock, alike.
create function devalue_unless_busy(
  p_company integer, p_numbers bytea[], p_pins bytea[], p_amount bigint, p_limit bigint,
  p_deduction uuid, p_nonce bytea, p_token bytea, p_key bytea, p_parameters bytea[], p_rule lockout_rule,
  out outcome text, out deducted_cents bigint, out deduction_id uuid, out token_nonce bytea, out token_hash bytea,
  out retry_after_seconds integer
) language plpgsql as $$
declare
  v_newest integer := cardinality(p_numbers);
begin
  outcome := 'busy';
  -- The same locks as lock_idempotency_key and lock_subject take, or nothing.
  if p_key is not null and not pg_try_advisory_xact_lock(
    hashtextextended(concat_ws(':', p_company, 'devalue', encode(p_key, 'hex')), 0)
  ) then
    return;
  end if;
  if not pg_try_advisory_xact_lock(hashtextextended(encode(p_numbers[1], 'hex'), 1)) then
    return;
  end if;
  -- First by the newest hash alone, as the planner would plan one with a list of hashes anew at each call.
  perform from cards c
    where c.number_hash = p_numbers[v_newest] and c.pin_hash = p_pins[v_newest] for no key update skip locked;
  if not found then
    if v_newest > 1 then
      perform from cards c
        where c.number_hash = any (p_numbers) and c.pin_hash = p_pins[c.generation] for no key update skip locked;
    end if;
    if not found and exists (
      select from cards c where c.number_hash = any (p_numbers) and c.pin_hash = p_pins[c.generation]
    ) then
      return;
    end if;
  end if;
  select d.* into outcome, deducted_cents, deduction_id, token_nonce, token_hash, retry_after_seconds
    from devalue(p_company, p_numbers, p_pins, p_amount, p_limit, p_deduction, p_nonce, p_token, p_key, p_parameters,
      p_rule) d;
end $$;

-- Puts a deduction back. `outcome` is 'done' or 'token_used'.
create function reverse_deduction(
  p_ledger bigint, out outcome text, out refunded_cents bigint, out balance_cents bigint
) language plpgsql as $$
declare
  v_deduction ledger;
  v_balance bigint;
begin
  select * into strict v_deduction from ledger where id = p_ledger;
  -- Whoever comes second waits here, and then sees the first one's row.
  select c.balance_cents into strict v_balance from cards c where c.id = v_deduction.card_id for no key update;
  if exists (select from ledger l where l.reverses = p_ledger) then
    outcome := 'token_used';
    return;
  end if;
  insert into ledger (card_id, kind, amount_cents, company_id, reverses)
    values (v_deduction.card_id, 'cancel', v_deduction.refund_cents, v_deduction.company_id, p_ledger);
  outcome := 'done';
  refunded_cents := v_deduction.refund_cents;
  balance_cents := v_balance + v_deduction.refund_cents;
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

-- Ends a devalue by its key: reverses it, or closes the key so that it never happens.
create function cancel_by_key(
  p_company integer, p_key bytea, out outcome text, out refunded_cents bigint, out balance_cents bigint
) language plpgsql as $$
declare
  v_ledger bigint;
begin
  perform lock_idempotency_key(p_company, 'devalue', p_key);
  select ledger_id into v_ledger from idempotency_keys
    where company_id = p_company and operation = 'devalue' and key_hash = p_key;
  if v_ledger is null then
    insert into idempotency_keys (company_id, operation, key_hash) values (p_company, 'devalue', p_key)
      on conflict do nothing;
    outcome := 'devalue_not_done';
    return;
  end if;
  select r.* into outcome, refunded_cents, balance_cents from reverse_deduction(v_ledger) r;
end $$;

-- Reads a card by number and PIN, judged and counted as a devalue's are. `outcome` is 'done' or an error code.
create function read_card(
  p_numbers bytea[], p_pins bytea[], p_rule lockout_rule,
  out outcome text, out balance_cents bigint, out card_status text, out expiry_date date, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_generation integer := (select max(id) from secret_generations);
  v_card cards;
begin
  if v_generation > cardinality(p_numbers) then
    outcome := 'stale';
    return;
  end if;
  retry_after_seconds := begin_guess(p_numbers[1]);
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
