import type { MedusaContainer } from "@medusajs/framework/types";
import { createPromotionsWorkflow } from "@medusajs/medusa/core-flows";

/** The promotion codes: a percentage off the order, an amount off the order, and free delivery. */
const PROMOTIONS = [
  { code: "TEN", type: "percentage", value: 10, target_type: "order" },
  { code: "FIVE", type: "fixed", value: 5, target_type: "order" },
  { code: "FREESHIP", type: "percentage", value: 100, target_type: "shipping_methods" },
] as const;

/** Creates the promotions. Amounts include tax, like the shop's prices. */
export async function createPromotions(container: MedusaContainer): Promise<void> {
  await createPromotionsWorkflow(container).run({
    input: {
      promotionsData: PROMOTIONS.map(({ code, ...method }) => ({
        code,
        type: "standard" as const,
        status: "active" as const,
        is_tax_inclusive: true,
        application_method: { ...method, allocation: "across" as const, currency_code: "eur" },
      })),
    },
  });
}
