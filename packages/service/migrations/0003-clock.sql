-- A clock that goes back costs nobody calls: the minute of a key or company then begins anew.

-- Grants a process calls for the rest of this slot, and takes back what it did not use of an earlier grant.
create or replace function lease_calls(
  p_id bigint, p_limit integer, p_block integer, p_unused integer, p_unused_slot bigint, p_kind text default 'key',
  out calls integer, out lease_slot bigint, out valid_ms integer, out retry_after_seconds integer
) language plpgsql as $$
declare
  v_slots constant integer := 30;
  v_slot_ms constant integer := 2000;
  v_known call_usage;
  v_now_ms bigint;
  v_shift integer;
  v_oldest integer;
begin
  -- What nobody used for long is swept away, at any moment.
  loop
    select * into v_known from call_usage where kind = p_kind and id = p_id for update;
    exit when found;
    insert into call_usage (kind, id, slot, granted) values (p_kind, p_id, 0, array_fill(0, array[v_slots]))
      on conflict do nothing;
  end loop;
  v_now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
  lease_slot := v_now_ms / v_slot_ms;
  -- The clock was set back, or that of another server is behind: nobody can say how long ago those calls were.
  if lease_slot < v_known.slot then
    v_known.granted := array_fill(0, array[v_slots]);
    v_known.slot := lease_slot;
  end if;
  v_shift := least(lease_slot - v_known.slot, v_slots);
  if v_shift > 0 then
    v_known.granted := array_fill(0, array[v_shift]) || v_known.granted[1:v_slots - v_shift];
  end if;
  if p_unused > 0 and lease_slot - p_unused_slot between 0 and v_slots - 1 then
    v_oldest := lease_slot - p_unused_slot + 1;
    v_known.granted[v_oldest] := greatest(v_known.granted[v_oldest] - p_unused, 0);
  end if;
  calls := greatest(least(p_block, p_limit - (select sum(n) from unnest(v_known.granted) n)), 0);
  v_known.granted[1] := v_known.granted[1] + calls;
  valid_ms := (lease_slot + 1) * v_slot_ms - v_now_ms;
  if calls = 0 then
    select max(place) into v_oldest from unnest(v_known.granted) with ordinality as g (n, place) where n > 0;
    retry_after_seconds := greatest(
      ceil(((lease_slot - coalesce(v_oldest, 1) + 1 + v_slots) * v_slot_ms - v_now_ms) / 1000.0), 1);
  end if;
  update call_usage set slot = lease_slot, granted = v_known.granted where kind = p_kind and id = p_id;
end $$;
