-- The service's tables. Amounts are whole cents. Secrets stand here as hashes only.

-- What the service keeps about itself: one row.
create table settings (
  single boolean primary key default true check (single),
  -- Proves that the secrets file belongs to this database.
  key_check bytea not null
);

create table companies (
  id integer generated always as identity primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table accounts (
  id integer generated always as identity primary key,
  company_id integer not null references companies,
  email text not null,
  password_hash text not null,
  created_at timestamptz not null default now()
);
create unique index accounts_email on accounts (lower(email));

create table api_keys (
  id bigint generated always as identity primary key,
  company_id integer not null references companies,
  key_hash bytea not null unique,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

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
  created_at timestamptz not null default now()
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

-- Deducts the smallest of the amount, the balance and the limit. `outcome` is 'done', 'replayed' or an error code.
-- A wrong PIN and an unknown number take the same path and write nothing.
create function devalue(
  p_company integer, p_number bytea, p_pin bytea, p_amount bigint, p_limit bigint,
  p_deduction uuid, p_nonce bytea, p_token bytea, p_key bytea, p_parameters bytea,
  out outcome text, out deducted_cents bigint, out deduction_id uuid, out token_nonce bytea
) language plpgsql as $$
declare
  v_key idempotency_keys;
  v_card cards;
  v_ledger bigint;
begin
  if p_key is not null then
    perform lock_idempotency_key(p_company, 'devalue', p_key);
    select * into v_key from idempotency_keys k
      where k.company_id = p_company and k.operation = 'devalue' and k.key_hash = p_key;
    if found then
      outcome := case
        when v_key.ledger_id is null then 'key_closed'
        when v_key.parameters_hash <> p_parameters then 'idempotency_key_reused'
        when v_key.created_at <= now() - interval '24 hours' then 'idempotency_key_spent'
        else 'replayed'
      end;
      if outcome = 'replayed' then
        select l.refund_cents, l.deduction_id, l.token_nonce into deducted_cents, deduction_id, token_nonce
          from ledger l where l.id = v_key.ledger_id;
      end if;
      return;
    end if;
  end if;

  select * into v_card from cards c where c.number_hash = p_number and c.pin_hash = p_pin for no key update;
  if not found then
    outcome := 'invalid_card';
    return;
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
  insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
    values (v_card.id, 'devalue', -deducted_cents, p_company, p_amount, p_deduction, p_nonce, p_token)
    returning id into v_ledger;
  if p_key is not null then
    insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, ledger_id)
      values (p_company, 'devalue', p_key, p_parameters, v_ledger);
  end if;
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
