-- A devalue judges its API key itself, so that a call needs one statement and not two.

drop function devalue_unless_busy(integer, bytea[], bytea[], bigint, bigint, uuid, bytea, bytea, bytea, bytea[], lockout_rule);
drop function devalue(integer, bytea[], bytea[], bigint, bigint, uuid, bytea, bytea, bytea, bytea[], lockout_rule);

-- Deducts the smallest of the amount, the balance and the limit. `outcome` is 'done', 'replayed' or an error code.
-- A wrong PIN and an unknown number take the same path, and are counted alike.
--
-- A number and PIN come hashed under each generation of secrets that the process knows, oldest first; the first number
-- is what guesses are counted by. `outcome` 'stale' asks the process to read its secrets again: it lacks the newest.
--
-- An API key that comes with it is judged in the same moment: 'unauthorized' where it isn't a living one of the company.
-- Version 0.1.0, which may run on beside, has looked it up before and sends none.
create function devalue(
  p_company integer, p_numbers bytea[], p_pins bytea[], p_amount bigint, p_limit bigint,
  p_deduction uuid, p_nonce bytea, p_token bytea, p_key bytea, p_parameters bytea[], p_rule lockout_rule,
  p_api_key bytea default null,
  out outcome text, out deducted_cents bigint, out deduction_id uuid, out token_nonce bytea, out token_hash bytea,
  out retry_after_seconds integer
) language plpgsql as $$
declare
  v_generation integer;
  v_is_living boolean;
  v_key idempotency_keys;
  v_card cards;
  v_ledger bigint;
begin
  select max(id), p_api_key is null or exists (
      select from api_keys k
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
  p_api_key bytea default null,
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
      p_rule, p_api_key) d;
end $$;
