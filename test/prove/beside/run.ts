import { fileURLToPath } from "node:url";
import { createStorefront } from "../../../packages/medusa/test/support/storefront.js";
import { createStoreDatabase, type MedusaStore, startMedusaStore } from "../../../scripts/shops/medusa-store.mjs";
import { startPostgres } from "../../support/postgres.js";
import { type Comparison, compare } from "./compare.js";
import { scenes } from "./scenes.js";
import { createShopper } from "./shopper.js";

const appDir = fileURLToPath(new URL("../../../packages/medusa/test/store/", import.meta.url));

/** Starts a shop of the tests, with the plugin or without it. */
export async function openShop(postgresUrl: string, { isPlain }: { isPlain: boolean }): Promise<MedusaStore> {
  const env = { TEST_RECOVER_BY_HAND: "yes", ...(isPlain && { TEST_PLAIN: "yes" }) };
  const store = await startMedusaStore({ appDir, databaseUrl: await createStoreDatabase(postgresUrl), env });
  await createStorefront(store).enableProviders();
  return store;
}

export interface SceneResult extends Comparison {
  readonly scene: string;
}

/** Plays the scenes in two shops, in both at once, and compares what they answer. */
export async function playScenes(
  { plain, plugin }: { readonly plain: MedusaStore; readonly plugin: MedusaStore },
  { isShort = false, onScene }: { isShort?: boolean; onScene?: (result: SceneResult) => void } = {},
): Promise<SceneResult[]> {
  const results: SceneResult[] = [];
  for (const [scene, play, inShort] of scenes) {
    if (isShort && !inShort) continue;
    const [without, beside] = [createShopper(plain, scene), createShopper(plugin, scene)];
    await Promise.all([play(without), play(beside)]);
    const result = { scene, ...compare(without.heard, beside.heard) };
    results.push(result);
    onScene?.(result);
  }
  return results;
}

/** Plays every scene in two shops of its own. */
export async function runBeside(onScene: (result: SceneResult) => void): Promise<SceneResult[]> {
  const server = await startPostgres();
  const shops: MedusaStore[] = [];
  try {
    const open = async (isPlain: boolean) => {
      const shop = await openShop(server.url, { isPlain });
      shops.push(shop);
      return shop;
    };
    return await playScenes({ plain: await open(true), plugin: await open(false) }, { onScene });
  } finally {
    await Promise.all(shops.map((shop) => shop.stop()));
    await server.stop();
  }
}
