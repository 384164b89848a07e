-- Keys of tills, which activate and top up cards and do nothing else. Their hashes differ from those of a shop's keys, so a
-- program that knows no scopes finds none of them.
alter table api_keys
  add column scope text not null default 'shop',
  -- Of a till's key: the amount that it may put on cards in a day, and the balance that it may leave on a card.
  add column day_cents bigint,
  add column card_cents bigint,
  add constraint api_keys_scope_check check (scope in ('shop', 'till')),
  add constraint api_keys_till_check check (num_nulls(day_cents, card_cents) = (case scope when 'till' then 0 else 2 end));

-- The amount that a till's key put on cards in a day, by the clock in Amsterdam. The sweep deletes past days.
create table key_loads (
  key_id bigint not null references api_keys on delete cascade,
  day date not null,
  cents bigint not null,
  primary key (key_id, day)
) with (fillfactor = 50);

alter table idempotency_keys
  drop constraint idempotency_keys_operation_check,
  add constraint idempotency_keys_operation_check check (operation in ('devalue', 'newevent', 'load'));

-- As before, but the first money of a card may have a company: the one whose till sold the card. A top-up always has one.
create or replace function is_valid_movement(
  p_kind text, p_card bigint, p_amount bigint, p_company integer, p_requested bigint, p_deduction uuid, p_nonce bytea,
  p_token bytea, p_reverses bigint, p_moved_from bigint, p_moved_from_card bigint, p_audit bigint
) returns boolean immutable parallel safe language plpgsql as $$
begin
  return case p_kind
    when 'devalue' then p_amount between -5000 and -1 and p_requested >= -p_amount
      and num_nulls(p_requested, p_company, p_deduction, p_nonce, p_token) = 0
      and num_nonnulls(p_reverses, p_moved_from) = 0
    when 'issue' then p_amount > 0 and num_nonnulls(p_deduction, p_reverses, p_moved_from) = 0
      and (p_company is null or p_audit is not null)
    when 'top_up' then p_amount > 0 and num_nulls(p_company, p_audit) = 0
      and num_nonnulls(p_requested, p_deduction, p_reverses, p_moved_from) = 0
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

-- Activates a card or tops it up, for a till. Returns `invalid_card` for every card that can't be: a till must not learn which
-- numbers exist. Each refusal because of the card counts as a wrong guess at its number.
create function load_card(
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
