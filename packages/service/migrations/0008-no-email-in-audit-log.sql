-- The audit log names accounts by their ids, so that an email address can be erased. No later change of its entries is allowed.
alter table audit_log disable trigger audit_log_is_append_only;
-- An entry of `company create` had no id. Its account is the one that no `account add` has added.
update audit_log l
  set details = coalesce(
      (select jsonb_build_object('account', a.id) from accounts a
         where a.company_id = l.company_id and lower(a.email) = lower(l.details ->> 'email')
           and not exists (
             select from audit_log x where x.action = 'account add' and x.details ->> 'account' = a.id::text)),
      '{}'
    ) || (l.details - 'email')
  where l.details ? 'email';
alter table audit_log enable trigger audit_log_is_append_only;
