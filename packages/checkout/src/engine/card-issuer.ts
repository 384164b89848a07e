import type { GiftcardClient } from "@giftcard-pay/client";

/**
 * The issuer of the gift cards, as the checkout needs it; `createClient` of `@giftcard-pay/client` returns one. For another
 * issuer, write an object like it, and run `issuerConformance` on it. A call that fails throws one of the client's errors:
 * `RefusedError` if nothing has happened, and otherwise `UnreachableError` or `ProtocolError`, whose outcome is unknown.
 */
export interface CardIssuer
  extends Pick<GiftcardClient, "balance" | "devalue" | "cancelDevalue" | "resolveDevalue" | "checkAccess"> {
  /** The currency of the cards, such as `EUR`: one with hundredths. Carts in another currency are refused. */
  readonly currency: string;
  /** The maximum of one `devalue`, in cents, and so of a card per order: at most 100,000. */
  readonly maxDeductionCents: number;
  readonly environment: "live" | "sandbox" | undefined;
  /** Its address. With `companyId`, it tells the charges of this issuer from those of another one. */
  readonly baseUrl: string;
  /** The number of the shop's account at the issuer. Required. */
  readonly companyId: number | undefined;
}
