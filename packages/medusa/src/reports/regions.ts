import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { PROVIDER_ID } from "../names.js";

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

/** Lists the shop's regions in euro. Gift cards can't pay in other regions. */
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
