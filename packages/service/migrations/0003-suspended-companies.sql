-- Companies that are suspended for a while. Their keys and logins are refused, but they can cancel devalues: the money goes back
-- to the card that it came from.
alter table companies add column suspended_at timestamptz;

-- As before, but refuses a suspended company.
create or replace function make_login_key(p_account integer, p_password_hash text, p_key bytea, p_bound integer) returns text
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

-- As before, but `outcome` is 'unauthorized' also if the company is suspended.
create or replace function devalue(
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

-- As before, but refuses a suspended company as `devalue` does.
create or replace function read_card(
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
