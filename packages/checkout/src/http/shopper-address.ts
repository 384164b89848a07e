/** A registered symbol, because a request may pass between several copies of this package. */
const address = Symbol.for("giftcard-pay.shopper-address");

/** Attaches the shopper's IP address to a request. */
export function setAddress(request: Request, value: string | undefined): void {
  Object.defineProperty(request, address, { value, configurable: true });
}

/** Returns the shopper's IP address, if the server has attached it. */
export const attachedAddress = (request: Request): string | undefined => (request as { [address]?: string })[address];
