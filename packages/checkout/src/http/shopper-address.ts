/** By a name that all copies of this package share, since a request may pass from one to another. */
const address = Symbol.for("giftcard-pay.shopper-address");

/** Names the shopper's address on the network, as the server that took the request knows it. */
export function nameAddress(request: Request, named: string | undefined): void {
  Object.defineProperty(request, address, { value: named, configurable: true });
}

/** The shopper's address on the network, where the server that took the request named it. */
export const namedAddress = (request: Request): string | undefined =>
  (request as { [address]?: string })[address];
