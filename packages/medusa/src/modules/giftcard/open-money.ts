import { OPEN_CHARGES } from "../../journal-tables/charges.js";
import { PENDING_REMAINDERS } from "../../medusa-tables/unpaid-orders.js";

/** A statement that fails while the tables hold open money: the first of every migration that goes back. */
export const refuseWhileOpen = `do $$
declare
  charges bigint := (${OPEN_CHARGES});
  remainders bigint := (${PENDING_REMAINDERS});
begin
  if charges + remainders > 0 then
    raise exception 'The gift card tables hold open money: % charges that are not over, and % remainders that are still to be paid. Nothing was dropped. npx giftcard-medusa drain says what to do first.',
      charges, remainders;
  end if;
end $$`;
