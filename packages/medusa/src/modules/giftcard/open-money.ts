import { OPEN_CHARGES, OPEN_RELEASES } from "../../journal-tables/charges.js";
import { PENDING_REMAINDERS } from "../../medusa-tables/unpaid-orders.js";

/** A statement that fails while the tables hold open money. Every `down` migration runs it first. */
export const refuseWhileOpen = `do $$
declare
  charges bigint := (${OPEN_CHARGES});
  remainders bigint := (${PENDING_REMAINDERS});
  releases bigint := (${OPEN_RELEASES});
begin
  if charges + remainders + releases > 0 then
    raise exception 'The gift card tables hold open money: % charges that are not settled, % remainders that are still to be paid, and % payments that are to be released. Nothing was dropped. npx giftcard-medusa status says what to do first.',
      charges, remainders, releases;
  end if;
end $$`;
