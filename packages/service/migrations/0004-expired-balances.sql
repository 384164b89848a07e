-- Expired balances are written off by rows of the kind `expire`, each with an entry in the audit log.
create or replace function is_valid_movement(
  p_kind text, p_card bigint, p_amount bigint, p_company integer, p_requested bigint, p_deduction uuid, p_nonce bytea,
  p_token bytea, p_reverses bigint, p_moved_from bigint, p_moved_from_card bigint, p_audit bigint
) returns boolean immutable parallel safe language plpgsql as $$
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
end $$;
