-- What a company may store, and slow guessing.

-- The size of a company's events, kept by triggers.
create table company_storage (
  company_id integer primary key references companies,
  events integer not null default 0,
  event_bytes bigint not null default 0
) with (fillfactor = 50);

lock table events in share row exclusive mode;

insert into company_storage (company_id, events, event_bytes)
  select company_id, count(*), sum(octet_length(e::text)) from events e group by company_id;

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
create trigger events_changed_new after update on events
  referencing new table as moved for each statement execute function move_storage('1');
create trigger events_changed_old after update on events
  referencing old table as moved for each statement execute function move_storage('-1');

-- Keys that were closed before their devalue came.
create index idempotency_keys_closed on idempotency_keys (company_id, created_at)
  where operation = 'devalue' and ledger_id is null;

drop function cancel_by_key(integer, bytea);
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

-- The failures since `slow_since`, which a lock does not reset.
alter table failed_attempts
  add column slow_failures integer not null default 0,
  add column slow_since timestamptz;

-- `slow_failures` within `slow_window_seconds` lock a card number until a person unlocks it; 0 sets no limit.
alter type lockout_rule add attribute slow_failures integer;
alter type lockout_rule add attribute slow_window_seconds integer;

-- Returns for how many more seconds a locked number stays locked, or null; for a lock without an end, a day. The caller
-- holds the lock of `lock_subject`.
create or replace function locked_seconds(p_subject bytea) returns integer language plpgsql as $$
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
create or replace function count_failure(p_subject bytea, p_rule lockout_rule) returns void language plpgsql as $$
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
