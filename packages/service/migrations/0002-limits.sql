-- Limits that every process on the database shares, keys that can be rotated, and companies that can be closed.

-- The generations of the service's secrets, oldest first. The newest hashes what is new; an older card is hashed anew at
-- its next right use. Each row proves that the secrets file holds that generation.
create table secret_generations (
  id integer primary key,
  key_check bytea not null unique,
  created_at timestamptz not null default now()
);
insert into secret_generations (id, key_check) select 1, key_check from settings;
drop table settings;

alter table cards add column generation integer not null default 1;
alter table accounts add column password_generation integer not null default 1;
alter table companies add column closed_at timestamptz;
create index api_keys_company on api_keys (company_id, id);

-- Kept answers run out after 24 hours; this finds those whose time has come.
create index idempotency_keys_answered on idempotency_keys (created_at) where answer is not null;

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

-- A number and PIN come hashed under each generation of secrets that the process knows, oldest first; the first number
-- is what guesses are counted by. `outcome` 'stale' asks the process to read its secrets again: it lacks the newest.
drop function devalue(integer, bytea, bytea, bigint, bigint, uuid, bytea, bytea, bytea, bytea);
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
