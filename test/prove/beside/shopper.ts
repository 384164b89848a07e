import { createStorefront, type Storefront } from "../../../packages/medusa/test/support/storefront.js";
import type { MedusaStore } from "../../../scripts/shops/medusa-store.mjs";

/** A call with its answer, as it is compared. */
export interface Heard {
  readonly call: string;
  readonly status: number;
  readonly body: unknown;
  readonly statements: number;
}

/** Calls one of the two shops, and records every answer. */
export interface Shopper {
  readonly shop: Storefront;
  readonly heard: readonly Heard[];
  /**
   * @param call names the call in the comparison
   * @param body what is sent: an object, or a text as it is
   */
  // biome-ignore lint/suspicious/noExplicitAny: answers of Medusa, read by the scene
  call(call: string, method: string, path: string, body?: unknown): Promise<any>;
  /** Records something else that is compared, such as the sum of concurrent answers. */
  note(call: string, body: unknown): void;
}

/** @param scene names the scene in the comparison */
export function createShopper(medusa: MedusaStore, scene: string): Shopper {
  const shop = createStorefront(medusa);
  const heard: Heard[] = [];
  return {
    shop,
    heard,
    async call(call, method, path, body) {
      const answer = await shop.send(method, path, body, { "x-test-count": "yes" });
      const statements = Number(answer.headers.get("x-test-statements") ?? 0);
      heard.push({ call: `${scene}: ${call}`, status: answer.status, body: normalize(answer.body), statements });
      return answer.body;
    },
    note: (call, body) => void heard.push({ call: `${scene}: ${call}`, status: 0, body, statements: 0 }),
  };
}

/** Names that differ between two shops that are the same otherwise. */
const ownNames = new Set([
  "display_id",
  "custom_display_id",
  "created_at",
  "updated_at",
  "handle",
  "product_handle",
  "variant_sku",
]);

/** Replaces what differs by chance: ids, times and numbers of orders. Medusa sorts no nested list. */
export function normalize(value: unknown): unknown {
  if (typeof value === "string")
    return value
      .replace(/\b([a-z][a-z_]*)_[0-9A-Z]{26}\b/g, "$1_#")
      .replace(/\b[0-9A-Z]{26}\b/g, "#")
      .replace(/#\d+/g, "#n")
      .replace(/scarce-[\d-]+/g, "scarce")
      .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "TIME");
  if (Array.isArray(value)) return value.map(normalize).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !ownNames.has(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, normalize(inner)]));
}

const keyOf = (value: unknown) => JSON.stringify(value) ?? "";
