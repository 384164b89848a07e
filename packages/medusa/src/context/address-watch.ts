import type { Logger } from "@medusajs/framework/types";
import { type Reason, sentencesOf } from "../sentences.js";

/** So many carts whose calls come from one address are probably not those of one shopper. */
const ENOUGH_CARTS = 3;

const warning: Reason = { code: "oneAddress" };

/** Notices in this process if the calls of all shoppers come from one address, or from addresses that don't count. */
export function createAddressWatch(logger: Logger) {
  const addresses = new Set<string | undefined>();
  const carts = new Set<string>();
  const isOne = () => addresses.size === 1 && carts.size >= ENOUGH_CARTS;

  return {
    note(cartId: string, address: string | undefined): void {
      if (addresses.size > 1 || isOne()) return void addresses.add(address);
      addresses.add(address);
      carts.add(cartId);
      if (isOne()) logger.warn(`giftcard: ${sentencesOf([warning])}`);
    },
    warnings: (): Reason[] => (isOne() ? [warning] : []),
  };
}
