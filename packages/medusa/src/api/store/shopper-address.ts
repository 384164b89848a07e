import type { MedusaRequest } from "@medusajs/framework/http";

/**
 * The shopper's address on the network, for the limits on guesses. A header is believed only where the option names it:
 * anybody can send one. Of a list, the last entry counts: it is the one that the shop's own proxy wrote.
 *
 * @param trustedHeader in lower case, or undefined if shoppers reach Medusa directly
 */
export function shopperAddress(req: MedusaRequest, trustedHeader: string | undefined): string | undefined {
  if (trustedHeader === undefined) return req.socket.remoteAddress;
  const value = req.headers[trustedHeader];
  const list = Array.isArray(value) ? value.join(",") : value;
  return list?.split(",").at(-1)?.trim() || req.socket.remoteAddress;
}
