import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import type { Sold } from "../medusa-tables/sold-items.js";

const id = z.string().min(1).max(200);
const soldSchema = z.union([
  z.strictObject({ variantId: id }),
  z.strictObject({ productId: id }),
  z.strictObject({ orderIds: z.array(id).min(1).max(10_000) }),
]);

/** Reads what is to be refunded. @throws {MedusaError} where it isn't one of the three */
export function readSold(input: unknown): Sold {
  const { success, data } = soldSchema.safeParse(input);
  if (success) return data;
  throw new MedusaError(
    MedusaError.Types.INVALID_DATA,
    "Say what is refunded: { variantId }, { productId } or { orderIds: [...] }.",
  );
}
