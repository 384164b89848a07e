-- `check --resume` verifies the rows of the ledger that were added since its last run. What it verified is kept here.

-- Blocks of verified rows. Each digest covers the block's rows and the digest before it.
create table checked_blocks (
  first bigint not null,
  through bigint primary key,
  digest bytea not null,
  checked_at timestamptz not null default now()
);
create trigger checked_blocks_are_append_only before update or delete on checked_blocks
  for each row execute function refuse_change('verified rows stay verified');
create trigger checked_blocks_are_kept before truncate on checked_blocks
  for each statement execute function refuse_change('verified rows stay verified');

-- The sum of each card's verified rows. No foreign key: adding it would lock the cards.
create table checked_cards (
  card_id bigint primary key,
  cents bigint not null
) with (fillfactor = 80);

-- The runs. `rechecked` is the last block whose verified rows were read again.
create table check_runs (
  id bigint generated always as identity primary key,
  checked_at timestamptz not null default now(),
  through bigint not null,
  rechecked bigint not null
);

-- The digest of a block. The columns are listed, since further ones must not change earlier digests.
create function ledger_digest(p_first bigint, p_through bigint, p_before bytea) returns bytea stable language sql as $$
  select sha256(coalesce(p_before, '') || convert_to(coalesce(string_agg(format('%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s',
    id, card_id, kind, amount_cents, company_id, requested_cents, deduction_id, encode(token_nonce, 'hex'),
    encode(token_hash, 'hex'), reverses, extract(epoch from created_at), audit_id, moved_from, moved_from_card),
    e'\n' order by id), ''), 'UTF8'))
    from ledger where id between p_first and p_through
$$;
