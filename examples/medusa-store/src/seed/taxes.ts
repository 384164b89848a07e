import type { MedusaContainer } from "@medusajs/framework/types";
import { createTaxRatesWorkflow, createTaxRegionsWorkflow } from "@medusajs/medusa/core-flows";

/** VAT in percent: on admission to shows, and on everything else, such as delivery and merchandise. */
const VAT = {
  nl: { tickets: 9, standard: 21 },
  be: { tickets: 6, standard: 21 },
  de: { tickets: 7, standard: 19 },
  fr: { tickets: 5.5, standard: 20 },
} as const;
type Country = keyof typeof VAT;

/** The countries of the shop's customers. */
export const COUNTRIES = Object.keys(VAT) as Country[];

/**
 * Creates each country's tax region with its standard rate, and the reduced rate for tickets.
 *
 * @param ticketTypeId the product type that the reduced rate applies to
 */
export async function createTaxes(container: MedusaContainer, ticketTypeId: string): Promise<void> {
  const { result: regions } = await createTaxRegionsWorkflow(container).run({
    input: COUNTRIES.map((country_code) => ({
      country_code,
      provider_id: "tp_system",
      default_tax_rate: { name: "VAT", code: `vat-${country_code}`, rate: VAT[country_code].standard },
    })),
  });
  await createTaxRatesWorkflow(container).run({
    input: regions.map(({ id, country_code }) => ({
      tax_region_id: id,
      name: "VAT on tickets",
      code: `vat-${country_code}-tickets`,
      rate: VAT[country_code as Country].tickets,
      rules: [{ reference: "product_type", reference_id: ticketTypeId }],
    })),
  });
}
