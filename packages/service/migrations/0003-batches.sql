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
