import type { Sql } from "@giftcard-pay/checkout/plugin";
import { hasRows } from "../rows.js";

/**
 * Tells whether a provider for emails is configured. False if Medusa's notification module is switched off. Reads
 * notification_provider.
 */
export async function hasEmailProvider(sql: Sql): Promise<boolean> {
  const [found] = await sql("select to_regclass('notification_provider') is not null as is_there", []);
  if (found?.is_there !== true) return false;
  return hasRows(
    sql,
    "select 1 from notification_provider where is_enabled and 'email' = any(channels) and deleted_at is null",
    [],
  );
}
