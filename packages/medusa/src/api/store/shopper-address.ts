import type { MedusaRequest } from "@medusajs/framework/http";

/**
 * Returns the shopper's network address, for the limits on guesses. A header counts only if the option names it,
 * since anybody can send one. In a list, the last entry counts: the shop's own proxy wrote it.
 *
 * @param trustedHeader in lower case, or undefined if shoppers reach Medusa directly
 */
export function shopperAddress(req: MedusaRequest, trustedHeader: string | undefined): string | undefined {
  if (trustedHeader === undefined) return req.socket.remoteAddress;
  const value = req.headers[trustedHeader];
  const list = Array.isArray(value) ? value.join(",") : value;
  return list?.split(",").at(-1)?.trim() || req.socket.remoteAddress;
}
