-- Written by `npm run docs -- schema`, the tables that the migrations create. To change them, add a migration.

create type lockout_rule as (
  failures integer,
  window_seconds integer,
  lock_seconds integer,
  longest_lock_seconds integer,
  slow_failures integer,
  slow_window_seconds integer
);

create table accounts (
  id integer not null generated always as identity,
  company_id integer not null,
  email text not null,
  password_hash text not null,
  created_at timestamp with time zone not null default now(),
  password_generation integer not null default 1,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id)
);

create table api_keys (
  id bigint not null generated always as identity,
  company_id integer not null,
  key_hash bytea not null,
  created_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  label text,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  by_login boolean not null default false,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_key_hash_key UNIQUE (key_hash),
  constraint api_keys_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id)
);

create table audit_log (
  id bigint not null generated always as identity,
  created_at timestamp with time zone not null default now(),
  operator text not null,
  os_user text not null,
  action text not null,
  reason text,
  card_id bigint,
  batch_id bigint,
  company_id integer,
  details jsonb not null default '{}'::jsonb,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES card_batches(id),
  constraint audit_log_card_id_fkey FOREIGN KEY (card_id) REFERENCES cards(id),
  constraint audit_log_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id)
);

create table call_usage (
  kind text not null,
  id bigint not null,
  slot bigint not null,
  granted integer[] not null,
  constraint call_usage_pkey PRIMARY KEY (kind, id),
  constraint call_usage_kind_check CHECK (kind = ANY (ARRAY['key'::text, 'company'::text]))
) with (fillfactor=50);

create table card_batches (
  id bigint not null generated always as identity,
  origin text not null,
  created_at timestamp with time zone not null default now(),
  constraint card_batches_pkey PRIMARY KEY (id),
  constraint card_batches_origin_check CHECK (origin = ANY (ARRAY['issue'::text, 'import'::text]))
);

create table cards (
  id bigint not null generated always as identity,
  number_hash bytea not null,
  pin_hash bytea not null,
  last_four text not null,
  balance_cents bigint not null default 0,
  expiry_date date not null,
  blocked boolean not null default false,
  created_at timestamp with time zone not null default now(),
  generation integer not null default 1,
  batch_id bigint,
  inactive_cents bigint,
  reissued_as bigint,
  constraint cards_pkey PRIMARY KEY (id),
  constraint cards_number_hash_key UNIQUE (number_hash),
  constraint cards_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES card_batches(id),
  constraint cards_reissued_as_fkey FOREIGN KEY (reissued_as) REFERENCES cards(id),
  constraint cards_balance_cents_check CHECK (balance_cents >= 0),
  constraint cards_inactive_cents_check CHECK (inactive_cents >= 0),
  constraint cards_inactive_is_empty CHECK (inactive_cents IS NULL OR balance_cents = 0)
) with (fillfactor=80);

create table check_runs (
  id bigint not null generated always as identity,
  checked_at timestamp with time zone not null default now(),
  through bigint not null,
  rechecked bigint not null,
  constraint check_runs_pkey PRIMARY KEY (id)
);

create table checked_blocks (
  first bigint not null,
  through bigint not null,
  digest bytea not null,
  checked_at timestamp with time zone not null default now(),
  constraint checked_blocks_pkey PRIMARY KEY (through)
);

create table checked_cards (
  card_id bigint not null,
  cents bigint not null,
  constraint checked_cards_pkey PRIMARY KEY (card_id)
) with (fillfactor=80);

create table companies (
  id integer not null generated always as identity,
  name text not null,
  created_at timestamp with time zone not null default now(),
  suspended_at timestamp with time zone,
  closed_at timestamp with time zone,
  constraint companies_pkey PRIMARY KEY (id)
);

create table company_storage (
  company_id integer not null,
  events integer not null default 0,
  event_bytes bigint not null default 0,
  constraint company_storage_pkey PRIMARY KEY (company_id),
  constraint company_storage_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id)
) with (fillfactor=50);

create table environment (
  is_only boolean not null default true,
  name text not null,
  constraint environment_pkey PRIMARY KEY (is_only),
  constraint environment_is_only_check CHECK (is_only),
  constraint environment_name_check CHECK (name = ANY (ARRAY['live'::text, 'sandbox'::text]))
);

create table event_concepts (
  id integer not null generated always as identity,
  company_id integer not null,
  provider_id integer not null,
  representative text not null,
  register text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint event_concepts_pkey PRIMARY KEY (id),
  constraint event_concepts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id),
  constraint event_concepts_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES providers(id)
);

create table events (
  id integer not null generated always as identity,
  company_id integer not null,
  provider_id integer not null,
  name text not null,
  organiser text not null,
  start_date date not null,
  start_time time without time zone not null,
  end_date date,
  end_time time without time zone,
  ticket_link text not null,
  building_name text not null default ''::text,
  street_name text not null default ''::text,
  street_number text not null default ''::text,
  zip_code text not null default ''::text,
  city text not null default ''::text,
  country text not null default ''::text,
  poster_url text not null default ''::text,
  banner_url text not null default ''::text,
  introduction_text text not null default ''::text,
  genre text not null default ''::text,
  activated smallint not null default 0,
  event_key text,
  lineup text not null default ''::text,
  minimum_age text not null default ''::text,
  price text not null default ''::text,
  video_url text not null default ''::text,
  event_link text not null default ''::text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint events_pkey PRIMARY KEY (id),
  constraint events_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id),
  constraint events_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES providers(id),
  constraint events_activated_check CHECK (activated = ANY (ARRAY[0, 1]))
);

create table failed_attempts (
  subject bytea not null,
  failed_at timestamp with time zone[] not null,
  lock_count integer not null default 0,
  locked_until timestamp with time zone,
  slow_failures integer not null default 0,
  slow_since timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint failed_attempts_pkey PRIMARY KEY (subject)
);

create table idempotency_keys (
  company_id integer not null,
  operation text not null,
  key_hash bytea not null,
  parameters_hash bytea,
  ledger_id bigint,
  answer text,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (company_id, operation, key_hash),
  constraint idempotency_keys_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id),
  constraint idempotency_keys_ledger_id_fkey FOREIGN KEY (ledger_id) REFERENCES ledger(id),
  constraint idempotency_keys_operation_check CHECK (operation = ANY (ARRAY['devalue'::text, 'newevent'::text]))
);

create table ledger (
  id bigint not null generated always as identity,
  card_id bigint not null,
  kind text not null,
  amount_cents bigint not null,
  company_id integer,
  requested_cents bigint,
  deduction_id uuid,
  token_nonce bytea,
  token_hash bytea,
  reverses bigint,
  refund_cents bigint generated always as (- amount_cents) stored,
  created_at timestamp with time zone not null default now(),
  audit_id bigint,
  moved_from bigint,
  moved_from_card bigint,
  constraint ledger_pkey PRIMARY KEY (id),
  constraint ledger_id_card_id_refund_cents_key UNIQUE (id, card_id, refund_cents),
  constraint ledger_audit_id_fkey FOREIGN KEY (audit_id) REFERENCES audit_log(id),
  constraint ledger_card_id_fkey FOREIGN KEY (card_id) REFERENCES cards(id),
  constraint ledger_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id),
  constraint ledger_moved_from_moved_from_card_amount_cents_fkey FOREIGN KEY (moved_from, moved_from_card, amount_cents) REFERENCES ledger(id, card_id, refund_cents),
  constraint ledger_reverses_card_id_amount_cents_fkey FOREIGN KEY (reverses, card_id, amount_cents) REFERENCES ledger(id, card_id, refund_cents),
  constraint ledger_check CHECK (is_valid_movement(kind, card_id, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash, reverses, moved_from, moved_from_card, audit_id))
);

create table migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (version)
);

create table providers (
  id integer not null generated always as identity,
  name text not null,
  constraint providers_pkey PRIMARY KEY (id),
  constraint providers_name_key UNIQUE (name)
);

create table secret_generations (
  id integer not null,
  key_check bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint secret_generations_pkey PRIMARY KEY (id),
  constraint secret_generations_key_check_key UNIQUE (key_check)
);

create table wrong_pins (
  company_id integer not null,
  minute bigint not null,
  failures integer not null,
  constraint wrong_pins_pkey PRIMARY KEY (company_id, minute),
  constraint wrong_pins_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies(id)
) with (fillfactor=50);

CREATE UNIQUE INDEX accounts_email ON accounts USING btree (lower(email));

CREATE INDEX api_keys_company ON api_keys USING btree (company_id, id);

CREATE INDEX api_keys_spent ON api_keys USING btree (LEAST(revoked_at, expires_at)) WHERE ((revoked_at IS NOT NULL) OR (expires_at IS NOT NULL));

CREATE INDEX audit_log_batch ON audit_log USING btree (batch_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX audit_log_card ON audit_log USING btree (card_id) WHERE (card_id IS NOT NULL);

CREATE INDEX audit_log_company ON audit_log USING btree (company_id) WHERE (company_id IS NOT NULL);

CREATE INDEX audit_log_created ON audit_log USING btree (created_at);

CREATE INDEX cards_batch ON cards USING btree (batch_id, id) WHERE (batch_id IS NOT NULL);

CREATE UNIQUE INDEX cards_reissued_as ON cards USING btree (reissued_as) WHERE (reissued_as IS NOT NULL);

CREATE INDEX event_concepts_company ON event_concepts USING btree (company_id, id);

CREATE INDEX events_company ON events USING btree (company_id, id);

CREATE UNIQUE INDEX events_key ON events USING btree (company_id, event_key);

CREATE INDEX failed_attempts_expired ON failed_attempts USING btree (expires_at);

CREATE INDEX idempotency_keys_answered ON idempotency_keys USING btree (created_at) WHERE (answer IS NOT NULL);

CREATE INDEX idempotency_keys_closed ON idempotency_keys USING btree (company_id, created_at) WHERE ((operation = 'devalue'::text) AND (ledger_id IS NULL));

CREATE INDEX ledger_card ON ledger USING btree (card_id, id);

CREATE INDEX ledger_created ON ledger USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

CREATE UNIQUE INDEX ledger_issued_once ON ledger USING btree (card_id) WHERE (kind = 'issue'::text);

CREATE UNIQUE INDEX ledger_moved_once ON ledger USING btree (moved_from) WHERE (moved_from IS NOT NULL);

CREATE UNIQUE INDEX ledger_reversed_once ON ledger USING btree (reverses) WHERE (reverses IS NOT NULL);

CREATE UNIQUE INDEX ledger_token ON ledger USING btree (token_hash) WHERE (token_hash IS NOT NULL);

CREATE TRIGGER audit_log_is_append_only BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit log is append-only');

CREATE TRIGGER audit_log_is_kept BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the audit log is append-only');

CREATE TRIGGER balance_is_the_ledgers BEFORE UPDATE ON cards FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND old.balance_cents IS DISTINCT FROM new.balance_cents) EXECUTE FUNCTION refuse_change('the balance is the sum of the ledger, so insert there');

CREATE TRIGGER card_begins_empty BEFORE INSERT ON cards FOR EACH ROW WHEN (new.balance_cents <> 0) EXECUTE FUNCTION refuse_change('the balance is the sum of the ledger, so insert there');

CREATE TRIGGER checked_blocks_are_append_only BEFORE DELETE OR UPDATE ON checked_blocks FOR EACH ROW EXECUTE FUNCTION refuse_change('verified rows stay verified');

CREATE TRIGGER checked_blocks_are_kept BEFORE TRUNCATE ON checked_blocks FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('verified rows stay verified');

CREATE TRIGGER events_changed_new AFTER UPDATE ON events REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION move_storage('1');

CREATE TRIGGER events_changed_old AFTER UPDATE ON events REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION move_storage('-1');

CREATE TRIGGER events_deleted AFTER DELETE ON events REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION move_storage('-1');

CREATE TRIGGER events_inserted AFTER INSERT ON events REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION move_storage('1');

CREATE TRIGGER ledger_is_append_only BEFORE DELETE OR UPDATE ON ledger FOR EACH ROW EXECUTE FUNCTION refuse_change('the ledger is append-only');

CREATE TRIGGER ledger_is_kept BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the ledger is append-only');

CREATE TRIGGER ledger_moves_balance AFTER INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION ledger_moves_balance();

CREATE OR REPLACE FUNCTION begin_login(p_subjects bytea[], p_failures integer, p_window_seconds integer, OUT retry_after_seconds integer, OUT counted_at text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION cancel_by_key(p_company integer, p_key bytea, p_closings integer, OUT outcome text, OUT refunded_cents bigint, OUT balance_cents bigint, OUT retry_after_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION cancel_by_token(p_company integer, p_token bytea, OUT outcome text, OUT refunded_cents bigint, OUT balance_cents bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  v_ledger bigint;
begin
  select id into v_ledger from ledger where token_hash = p_token and company_id = p_company;
  if not found then
    outcome := 'token_invalid';
    return;
  end if;
  select r.* into outcome, refunded_cents, balance_cents from reverse_deduction(v_ledger) r;
end $function$;

CREATE OR REPLACE FUNCTION card_status(card cards)
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN CASE WHEN ((card).blocked OR ((card).inactive_cents IS NOT NULL) OR ((card).reissued_as IS NOT NULL)) THEN 'Blocked'::text WHEN ((card).expiry_date < ((now() AT TIME ZONE 'Europe/Amsterdam'::text))::date) THEN 'Expired'::text WHEN ((card).balance_cents = 0) THEN 'No balance'::text ELSE 'Active'::text END;

CREATE OR REPLACE FUNCTION count_failure(p_subject bytea, p_rule lockout_rule)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION count_wrong_pin(p_company integer, p_limit integer, p_window_seconds integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION devalue(p_waits boolean, p_company integer, p_api_key bytea, p_numbers bytea[], p_pins bytea[], p_rule lockout_rule, p_amount bigint, p_limit bigint, p_deduction uuid, p_nonce bytea, p_token bytea, p_key bytea, p_parameters bytea[], OUT outcome text, OUT deducted_cents bigint, OUT deduction_id uuid, OUT token_nonce bytea, OUT token_hash bytea, OUT retry_after_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION end_login(p_subjects bytea[], p_counted_at text)
 RETURNS void
 LANGUAGE sql
AS $function$
  update failed_attempts set failed_at = array_remove(failed_at, p_counted_at::timestamptz)
    where subject = any(p_subjects);
$function$;

CREATE OR REPLACE FUNCTION is_valid_movement(p_kind text, p_card bigint, p_amount bigint, p_company integer, p_requested bigint, p_deduction uuid, p_nonce bytea, p_token bytea, p_reverses bigint, p_moved_from bigint, p_moved_from_card bigint, p_audit bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION lease_calls(p_id bigint, p_limit integer, p_block integer, p_unused integer, p_unused_slot bigint, p_kind text, OUT calls integer, OUT lease_slot bigint, OUT valid_ms integer, OUT retry_after_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION ledger_digest(p_first bigint, p_through bigint, p_before bytea)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
  select sha256(coalesce(p_before, '') || convert_to(coalesce(string_agg(format('%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s',
    id, card_id, kind, amount_cents, company_id, requested_cents, deduction_id, encode(token_nonce, 'hex'),
    encode(token_hash, 'hex'), reverses, extract(epoch from created_at), audit_id, moved_from, moved_from_card),
    e'\n' order by id), ''), 'UTF8'))
    from ledger where id between p_first and p_through
$function$;

CREATE OR REPLACE FUNCTION ledger_moves_balance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update cards set balance_cents = balance_cents + new.amount_cents where id = new.card_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION lock_idempotency_key(p_company integer, p_operation text, p_key bytea, p_waits boolean DEFAULT true)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  return take_lock(hashtextextended(concat_ws(':', p_company, p_operation, encode(p_key, 'hex')), 0), p_waits);
end $function$;

CREATE OR REPLACE FUNCTION lock_subject(p_subject bytea, p_waits boolean DEFAULT true)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  return take_lock(hashtextextended(encode(p_subject, 'hex'), 1), p_waits);
end $function$;

CREATE OR REPLACE FUNCTION locked_seconds(p_subject bytea)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION make_login_key(p_account integer, p_password_hash text, p_key bytea, p_bound integer)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION move_cents(p_from bigint, p_to bigint, p_cents bigint, p_audit bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_out bigint;
begin
  insert into ledger (card_id, kind, amount_cents, audit_id) values (p_from, 'move', -p_cents, p_audit)
    returning id into v_out;
  insert into ledger (card_id, kind, amount_cents, moved_from, moved_from_card, audit_id)
    values (p_to, 'move', p_cents, v_out, p_from, p_audit);
end $function$;

CREATE OR REPLACE FUNCTION move_storage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  v_sign integer := tg_argv[0];
begin
  insert into company_storage as s (company_id, events, event_bytes)
    select company_id, v_sign * count(*), v_sign * sum(octet_length(m::text)) from moved m group by company_id
    order by company_id
    on conflict (company_id) do update
      set events = s.events + excluded.events, event_bytes = s.event_bytes + excluded.event_bytes;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION read_card(p_waits boolean, p_company integer, p_api_key bytea, p_numbers bytea[], p_pins bytea[], p_rule lockout_rule, OUT outcome text, OUT balance_cents bigint, OUT card_status text, OUT expiry_date date, OUT retry_after_seconds integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % is refused: %', lower(tg_op), tg_table_name, tg_argv[0] using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION renew_card(p_card cards, p_generation integer, p_numbers bytea[], p_pins bytea[])
 RETURNS void
 LANGUAGE sql
AS $function$
  update cards set number_hash = p_numbers[p_generation], pin_hash = p_pins[p_generation], generation = p_generation
    where id = (select id from cards where id = p_card.id for no key update skip locked);
$function$;

CREATE OR REPLACE FUNCTION reverse_deduction(p_ledger bigint, OUT outcome text, OUT refunded_cents bigint, OUT balance_cents bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION take_lock(p_lock bigint, p_waits boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if p_waits then
    perform pg_advisory_xact_lock(p_lock);
    return true;
  end if;
  return pg_try_advisory_xact_lock(p_lock);
end $function$;

CREATE OR REPLACE FUNCTION unlock_number(p_subject bytea)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
AS $function$
declare
  v_until timestamptz;
begin
  perform lock_subject(p_subject);
  delete from failed_attempts where subject = p_subject returning locked_until into v_until;
  return case when v_until > clock_timestamp() then v_until end;
end $function$;
