-- Two faults of `load_card` are repaired:
-- - A key that had reached its amount of the day got `day_limit` for each card that it could otherwise load. That counted no
--   guess, so a thief of the key could find out balances without PINs. Now the answer does not depend on the card.
-- - A call that waited for its card put money on it even if the key was revoked meanwhile.
create or replace function load_card(
  p_company integer, p_api_key bytea, p_numbers bytea[], p_rule lockout_rule, p_is_activation boolean, p_amount bigint,
  p_key bytea, p_parameters bytea[],
  out outcome text, out loaded_cents bigint, out card_limit_cents bigint, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_generation integer;
  v_till api_keys;
  v_key idempotency_keys;
  v_card cards;
  v_cents bigint := p_amount;
  v_today date := (clock_timestamp() at time zone 'Europe/Amsterdam')::date;
  v_tomorrow timestamptz := (v_today + 1)::timestamp at time zone 'Europe/Amsterdam';
  v_audit bigint;
  v_ledger bigint;
begin
  select k.* into v_till from api_keys k join companies o on o.id = k.company_id
    where k.key_hash = p_api_key and k.company_id = p_company and k.scope = 'till' and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp()) and o.suspended_at is null and o.closed_at is null;
  if not found then
    outcome := 'unauthorized';
    return;
  end if;
  select max(id) into v_generation from secret_generations;
  if v_generation > cardinality(p_numbers) then
    outcome := 'stale';
    return;
  end if;
  perform lock_idempotency_key(p_company, 'load', p_key);
  select * into v_key from idempotency_keys k
    where k.company_id = p_company and k.operation = 'load' and k.key_hash = p_key;
  if found then
    outcome := case
      when v_key.parameters_hash <> all (p_parameters) then 'idempotency_key_reused'
      when v_key.created_at <= now() - interval '24 hours' then 'idempotency_key_spent'
      else 'replayed'
    end;
    if outcome = 'replayed' then
      select l.amount_cents into loaded_cents from ledger l where l.id = v_key.ledger_id;
    end if;
    return;
  end if;

  -- Before the card is read. An activation may have no amount; then this finds only a key with nothing left.
  if coalesce(p_amount, 1) > v_till.day_cents - coalesce(
      (select u.cents from key_loads u where u.key_id = v_till.id and u.day = v_today), 0) then
    outcome := 'day_limit';
    retry_after_seconds := greatest(1, ceil(extract(epoch from v_tomorrow - clock_timestamp())));
    return;
  end if;
  perform lock_subject(p_numbers[1]);
  retry_after_seconds := locked_seconds(p_numbers[1]);
  if retry_after_seconds is not null then
    outcome := 'card_locked';
    return;
  end if;
  select * into v_card from cards c where c.number_hash = any (p_numbers) for no key update;
  if not found or v_card.blocked or v_card.reissued_as is not null or v_card.expiry_date < v_today
      or (v_card.inactive_cents is not null) <> p_is_activation then
    outcome := 'invalid_card';
  elsif p_is_activation and v_card.inactive_cents > 0 then
    v_cents := v_card.inactive_cents;
    if p_amount <> v_cents then
      outcome := 'wrong_amount';
    end if;
  elsif p_amount is null then
    outcome := 'wrong_amount';
  end if;
  if outcome is null and v_card.balance_cents + v_cents > v_till.card_cents then
    outcome := 'card_full';
    card_limit_cents := v_till.card_cents;
  end if;
  if outcome is not null then
    perform count_failure(p_numbers[1], p_rule);
    return;
  end if;
  -- The card's lock may have taken a while.
  if not exists (select from api_keys k join companies o on o.id = k.company_id
      where k.id = v_till.id and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
        and o.suspended_at is null and o.closed_at is null) then
    outcome := 'unauthorized';
    return;
  end if;
  -- The last lock, so that calls of one key can't deadlock. Concurrent calls of the key may have reached its amount.
  insert into key_loads as u (key_id, day, cents) select v_till.id, v_today, v_cents where v_cents <= v_till.day_cents
    on conflict (key_id, day) do update set cents = u.cents + excluded.cents
      where u.cents + excluded.cents <= v_till.day_cents;
  if not found then
    outcome := 'day_limit';
    retry_after_seconds := greatest(1, ceil(extract(epoch from v_tomorrow - clock_timestamp())));
    return;
  end if;
  insert into audit_log (operator, os_user, action, card_id, company_id, details)
    values (concat_ws(' ', 'key', v_till.id, v_till.label), 'till',
      case when p_is_activation then 'card activate' else 'card top-up' end, v_card.id, p_company,
      case when p_is_activation
        then jsonb_build_object('key', v_till.id, 'cards', 1, 'balance', v_cents, 'issued_for', v_card.inactive_cents)
        else jsonb_build_object('key', v_till.id, 'by', v_cents) end)
    returning id into v_audit;
  if p_is_activation then
    update cards set inactive_cents = null where id = v_card.id;
  end if;
  insert into ledger (card_id, kind, amount_cents, company_id, audit_id)
    values (v_card.id, case when p_is_activation then 'issue' else 'top_up' end, v_cents, p_company, v_audit)
    returning id into v_ledger;
  insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, ledger_id)
    values (p_company, 'load', p_key, p_parameters[cardinality(p_parameters)], v_ledger);
  outcome := 'done';
  loaded_cents := v_cents;
end $$;
