import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { PROVIDER_ID } from "../names.js";

/** A region whose carts are in euro, and whether they can be paid with gift cards. */
export interface EuroRegion {
  readonly id: string;
  readonly name: string;
  readonly takesGiftcards: boolean;
}

interface Region {
  readonly id: string;
  readonly name: string;
  readonly payment_providers?: ({ readonly id: string } | null)[] | null;
}

/** The shop's regions in euro; no other region's carts can be paid with gift cards. */
export async function listEuroRegions(container: MedusaContainer): Promise<EuroRegion[]> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "region",
    fields: ["id", "name", "payment_providers.id"],
    filters: { currency_code: "eur" },
    pagination: { order: { name: "ASC" } },
  });
  return (data as Region[]).map(({ id, name, payment_providers }) => ({
    id,
    name,
    takesGiftcards: (payment_providers ?? []).some((provider) => provider?.id === PROVIDER_ID),
  }));
}
