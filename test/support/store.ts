import { createStoreDatabase, type MedusaStore, startMedusaStore } from "../../scripts/shops/medusa-store.mjs";

export type { MedusaStore };

/** Settings of a test's shop, except its database. */
export type StoreSettings = Omit<Parameters<typeof startMedusaStore>[0], "databaseUrl">;

/**
 * Starts the built example shop on a new database.
 *
 * @param postgresUrl the test server's address
 * @param settings the gift card service it uses, its port, further environment variables
 */
export async function startTestStore(
  postgresUrl: string,
  settings: StoreSettings = {},
): Promise<MedusaStore & { databaseUrl: string }> {
  const databaseUrl = await createStoreDatabase(postgresUrl);
  return { ...(await startMedusaStore({ ...settings, databaseUrl })), databaseUrl };
}
