-- Charges that a restore lost are imported from the merchants' journals.

-- As before, but a devalue and a cancel have an entry in the audit log if a person imported them.
create or replace function is_valid_movement(
  p_kind text, p_card bigint, p_amount bigint, p_company integer, p_requested bigint, p_deduction uuid, p_nonce bytea,
  p_token bytea, p_reverses bigint, p_moved_from bigint, p_moved_from_card bigint, p_audit bigint
) returns boolean immutable parallel safe language plpgsql as $$
begin
  return case p_kind
    when 'devalue' then p_amount between -5000 and -1 and p_requested >= -p_amount
      and num_nulls(p_requested, p_company, p_deduction, p_nonce, p_token) = 0
      and num_nonnulls(p_reverses, p_moved_from) = 0
    when 'issue' then p_amount > 0 and num_nonnulls(p_company, p_deduction, p_reverses, p_moved_from) = 0
    when 'cancel' then p_amount > 0 and p_reverses is not null and p_company is not null
      and num_nonnulls(p_deduction, p_moved_from) = 0
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

-- As before, with the audit entry if a person makes the rows.
create function reverse_deduction(
  p_ledger bigint, p_audit bigint, out outcome text, out refunded_cents bigint, out balance_cents bigint
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
  insert into ledger (card_id, kind, amount_cents, company_id, reverses, audit_id)
    values (v_deduction.card_id, 'cancel', v_deduction.refund_cents, v_deduction.company_id, p_ledger, p_audit);
  while v_card.reissued_as is not null loop
    select * into strict v_card from cards c where c.id = v_card.reissued_as for no key update;
  end loop;
  if v_card.id <> v_deduction.card_id then
    perform move_cents(v_deduction.card_id, v_card.id, v_deduction.refund_cents, p_audit);
  end if;
  outcome := 'done';
  refunded_cents := v_deduction.refund_cents;
  balance_cents := v_card.balance_cents + v_deduction.refund_cents;
end $$;
-- As before, for the calls of merchants.
create or replace function reverse_deduction(
  p_ledger bigint, out outcome text, out refunded_cents bigint, out balance_cents bigint
) language sql as $$ select * from reverse_deduction(p_ledger, null) $$;

-- Whether a devalue took money from the card with this number and PIN, for this requested amount. An imported charge has no
-- hash of its call's parameters.
create function is_charge_of(p_ledger bigint, p_numbers bytea[], p_pins bytea[], p_amount bigint) returns boolean
stable language sql as $$
  select exists (select from ledger l join cards c on c.id = l.card_id
    where l.id = p_ledger and l.requested_cents = p_amount
      and c.number_hash = any (p_numbers) and c.pin_hash = p_pins[c.generation])
$$;

-- As before, but compares the parameters of an imported charge's key with the charge itself.
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
        when v_key.parameters_hash is null and not is_charge_of(v_key.ledger_id, p_numbers, p_pins, p_amount)
          then 'idempotency_key_reused'
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

-- Books a charge of a merchant's journal, or its cancel, that a restore lost. `outcome`:
-- - 'booked': the charge, and its cancel if it has one
-- - 'reversed': only the cancel
-- - 'unchanged': the ledger has all of it, or has neither a charge without token nor its cancel
-- - 'differs': the key took another amount, or from another card
-- - 'key_closed': the key was resolved after the restore, so the merchant was told that nothing was taken
-- - 'card_unproven': no card is known for the charge
-- - 'balance_too_low': the card no longer has the money
--
-- With `p_is_dry`, nothing is locked or changed, and `p_earlier` is what earlier rows of the dry run put on the card.
create function import_charge(
  p_is_dry boolean, p_company integer, p_key bytea, p_requested bigint, p_deducted bigint, p_token bytea,
  p_is_reversed boolean, p_card bigint, p_deduction uuid, p_nonce bytea, p_earlier bigint, p_audit bigint,
  out outcome text, out card_id bigint, out ledger_id bigint
) language plpgsql as $$
declare
  v_key idempotency_keys;
  v_row ledger;
  v_balance bigint;
begin
  if not p_is_dry then
    perform lock_idempotency_key(p_company, 'devalue', p_key);
  end if;
  select * into v_key from idempotency_keys k
    where k.company_id = p_company and k.operation = 'devalue' and k.key_hash = p_key;
  if found then
    select * into v_row from ledger l where l.id = v_key.ledger_id;
    card_id := v_row.card_id;
    ledger_id := v_row.id;
    outcome := case
      when v_key.ledger_id is null and p_is_reversed then 'unchanged'
      when v_key.ledger_id is null then 'key_closed'
      when p_token is not null and (v_row.token_hash, v_row.refund_cents) <> (p_token, p_deducted) then 'differs'
      when v_row.requested_cents <> p_requested then 'differs'
      when not p_is_reversed or exists (select from ledger l where l.reverses = v_row.id) then 'unchanged'
      else 'reversed'
    end;
    if outcome = 'reversed' and not p_is_dry then
      -- A cancel of the merchant may win the race for the card.
      select case r.outcome when 'done' then 'reversed' else 'unchanged' end into outcome
        from reverse_deduction(v_row.id, p_audit) r;
    end if;
    return;
  end if;
  if p_token is null and p_is_reversed then
    outcome := 'unchanged';
    return;
  end if;
  if p_card is null then
    outcome := 'card_unproven';
    return;
  end if;
  card_id := p_card;
  if p_is_dry then
    select c.balance_cents into strict v_balance from cards c where c.id = p_card;
  else
    select c.balance_cents into strict v_balance from cards c where c.id = p_card for no key update;
  end if;
  if v_balance + p_earlier < p_deducted then
    outcome := 'balance_too_low';
    return;
  end if;
  outcome := 'booked';
  if p_is_dry then
    return;
  end if;
  insert into ledger as l
      (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash, audit_id)
    values (p_card, 'devalue', -p_deducted, p_company, p_requested, p_deduction, p_nonce, p_token, p_audit)
    returning l.id into ledger_id;
  insert into idempotency_keys (company_id, operation, key_hash, ledger_id) values (p_company, 'devalue', p_key, ledger_id);
  if p_is_reversed then
    perform reverse_deduction(ledger_id, p_audit);
  end if;
end $$;
