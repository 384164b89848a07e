import type { Storefront } from "../../../packages/medusa/test/support/storefront.js";
import { openWorld, type World } from "../faults/medusa/world.js";
import { type Good, goods, type Scenario } from "./scenario.js";

/** Duration of a lease. Those of a process that died or stalled have expired after this time. */
export const LEASE_MS = 5000;
/** Timeouts long enough for a slow machine. Only a call to a dead process waits that long. */
const options = { timeoutMs: 4000, leaseMs: LEASE_MS };
/** Time in which a later payment must settle, in a shop that allows such payments. */
export const PENDING_LIFE_MS = 8000;

/** Settings of a stage's shop. */
export interface StageOptions {
  readonly charges?: Scenario["charges"] | undefined;
  /** Whether the shop takes payments that settle later beside cards. */
  readonly allowsPending?: boolean | undefined;
  /** Whether the shop's processes share Medusa's own lock. */
  readonly sharesLock?: boolean | undefined;
}

/** A world with two Medusas on one database, and the ids that shoppers and admins use. */
export interface Stage {
  readonly world: World;
  /** Returns a Medusa by its number. The first may be killed, and restarts with another address. */
  medusa(which: 0 | 1): Storefront;
  readonly variantIds: Readonly<Record<Good, string>>;
  /** The free delivery by email, and the one by post. */
  readonly shippingOptionIds: readonly string[];
  /** Two regions with euro as currency, each with one of its countries. */
  readonly regions: readonly { readonly id: string; readonly country: string }[];
  readonly locationId: string;
  /** Whether the shop takes payments that settle later beside cards. */
  readonly allowsPending: boolean;
  close(): Promise<void>;
}

/** Starts a stage on a PostgreSQL server. */
export async function openStage(
  postgresUrl: string,
  { allowsPending = false, sharesLock = false, charges = "whole" }: StageOptions,
): Promise<Stage> {
  const pending = { allowPromisedRemainder: true, promisedRemainderMs: PENDING_LIFE_MS };
  const plugin = { ...options, charges, ...(allowsPending && pending) };
  const world = await openWorld(postgresUrl, plugin, { sharesLock });
  try {
    const { storefront, market } = world;
    const second = await world.secondStorefront();
    const regions = await openRegions(storefront);
    const cartId = await storefront.createCart("open-air-cinema");
    const { shipping_options } = await storefront.ok("GET", `/store/shipping-options?cart_id=${cartId}`);
    const { stock_locations } = await storefront.ok("GET", "/admin/stock-locations");
    const byPrice = [...shipping_options].sort((a, b) => a.amount - b.amount);
    return {
      world,
      medusa: (which) => (which === 0 ? world.storefront : second),
      variantIds: variantsOf(market.variantIds),
      shippingOptionIds: byPrice.map(({ id }: { id: string }) => id),
      regions,
      locationId: stock_locations[0].id,
      allowsPending,
      close: world.close,
    };
  } catch (error) {
    await world.close();
    throw error;
  }
}

function variantsOf(ids: Readonly<Record<string, string>>): Record<Good, string> {
  const missing = Object.keys(goods).filter((good) => !ids[good]);
  if (missing.length > 0) throw new Error(`not on sale: ${missing.join(", ")}`);
  return ids as Record<Good, string>;
}

/** Moves France to a second region. Goods are still sent there. */
async function openRegions({ ok }: Storefront) {
  const { regions } = await ok("GET", "/admin/regions?fields=id,*countries,*payment_providers");
  const [europe] = regions;
  const providers = europe.payment_providers.map(({ id }: { id: string }) => id);
  await ok("POST", `/admin/regions/${europe.id}`, { countries: ["nl", "be", "de"] });
  const { region } = await ok("POST", "/admin/regions", {
    ...{ name: "France", currency_code: "eur", countries: ["fr"] },
    ...{ payment_providers: providers, is_tax_inclusive: true },
  });
  return [
    { id: europe.id as string, country: "nl" },
    { id: region.id as string, country: "fr" },
  ];
}
