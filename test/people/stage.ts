import type { Storefront } from "../../packages/medusa/test/support/storefront.js";
import { openWorld, type World } from "../faults/medusa/world.js";
import { type Good, goods, type Scenario } from "./scenario.js";

/** After this long nothing is held any more by what died or stood still. */
export const LEASE_MS = 5000;
/** Long enough for a slow machine: nothing here hangs, so only what died makes anybody wait so long. */
const options = { timeoutMs: 4000, leaseMs: LEASE_MS };
/** How long a bank may take that settles later, in a shop that allows it. */
export const PENDING_LIFE_MS = 8000;

/** How a stage's shop is set up. */
export interface StageOptions {
  /** How the shop charges a card. */
  readonly charges?: Scenario["charges"] | undefined;
  /** Whether the shop takes payments that settle later beside cards. */
  readonly allowsPending?: boolean | undefined;
  /** Whether the shop's processes share Medusa's own lock. */
  readonly sharesLock?: boolean | undefined;
}

/** A world with two Medusas on one database, and what shoppers want of it. */
export interface Stage {
  readonly world: World;
  /** The Medusa with this number. The first may die, and comes back with another address. */
  medusa(which: 0 | 1): Storefront;
  readonly variantIds: Readonly<Record<Good, string>>;
  /** By e-mail for nothing, and by post. */
  readonly shippingOptionIds: readonly string[];
  /** Two regions in euro, each with a country. */
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
  const pending = { allowPendingRemainder: true, pendingRemainderLifeMs: PENDING_LIFE_MS };
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

/** France becomes a region of its own; goods are sent there as before. */
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
