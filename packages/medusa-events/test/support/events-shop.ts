import path from "node:path";
import { startShop, type TestShop } from "../../../medusa/test/support/shop.js";

export type { TestPeer, TestShop } from "../../../medusa/test/support/shop.js";

/** The folder of a store with medusa-events as its only plugin. */
const store = path.resolve(import.meta.dirname, "../store");

/** Starts a shop with medusa-events as its only plugin. @param options the plugin's; null removes one */
export const startEventsShop = (env: Record<string, string> = {}, options: object = {}): Promise<TestShop> =>
  startShop(env, options, store);
