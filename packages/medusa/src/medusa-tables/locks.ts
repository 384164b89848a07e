import type { Sql } from "@giftcard-pay/checkout/plugin";
import { RECOVERY_LOCK } from "../names.js";

/**
 * Deletes expired locks of Medusa's, of carts with gift cards and of recovery. Medusa's locking module for PostgreSQL
 * keeps the lock of a process that died forever, and nobody could complete or recover its cart. The other modules
 * expire locks themselves. Writes locking, if that module is configured.
 */
export async function endExpiredLocks(sql: Sql): Promise<void> {
  const [found] = await sql("select to_regclass('locking') is not null as is_there", []);
  if (found?.is_there !== true) return;
  await sql(
    `delete from locking where expiration < now()
       and (id = $1 or (select count(*) from giftcard_tender where cart_id = locking.id) > 0)`,
    [RECOVERY_LOCK],
  );
}
