import { OPEN_CHARGES } from "../../journal-tables/charges.js";
import { OPEN_RELEASES } from "../../journal-tables/releases.js";
import { PENDING_REMAINDERS } from "../../medusa-tables/unpaid-orders.js";

/** A statement that fails while the tables hold open money: the first of every migration that goes back. */
export const refuseWhileOpen = `do $$
declare
  charges bigint := (${OPEN_CHARGES});
  remainders bigint := (${PENDING_REMAINDERS});
  releases bigint := (${OPEN_RELEASES});
begin
  if charges + remainders + releases > 0 then
    raise exception 'The gift card tables hold open money: % charges that are not over, % remainders that are still to be paid, and % payments that are to be released. Nothing was dropped. npx giftcard-medusa drain says what to do first.',
      charges, remainders, releases;
  end if;
end $$`;
