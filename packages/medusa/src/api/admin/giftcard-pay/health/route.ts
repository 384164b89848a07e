import { readHealth } from "@giftcard-pay/checkout/plugin";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { PROVIDER_ID } from "../../../../names.js";
import { countFailingJobs } from "../../../../recovery/failing-jobs.js";
import { adminRoute } from "../admin-route.js";

/**
 * Reads the health of the service, the key, the clocks and the seals; open charges, failing jobs,
 * which regions take gift cards; and whether the shop's processes, locks, connections and proxies fit together.
 */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { client, sealer } = giftcard;
  const { environment, journal } = giftcard.engine;
  const [health, failingJobs, regions, processes] = await Promise.all([
    readHealth({ environment, issuer: client, sealer, journal }),
    countFailingJobs(sql),
    listEuroRegions(req.scope),
    giftcard.processes.read(),
  ]);
  const warnings = [...processes.warnings, ...giftcard.addresses.warnings()];
  return { ...health, failingJobs, regions, processes: { ...processes, warnings } };
});

export interface EuroRegion {
  readonly id: string;
  readonly name: string;
  readonly takesGiftcards: boolean;
}

/** Lists the shop's regions in euro. Gift cards can't pay in other regions. */
async function listEuroRegions(container: MedusaContainer): Promise<EuroRegion[]> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "region",
    fields: ["id", "name", "payment_providers.id"],
    filters: { currency_code: "eur" },
    pagination: { order: { name: "ASC" } },
  });
  return data.map(({ id, name, payment_providers }) => ({
    id,
    name,
    takesGiftcards: (payment_providers ?? []).some((provider: { id: string } | null) => provider?.id === PROVIDER_ID),
  }));
}
