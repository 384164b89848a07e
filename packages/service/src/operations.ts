import {
  BASE_PATH,
  type Cents,
  type Endpoint,
  type EndpointName,
  endpoints,
  type Secret,
} from "@giftcard-pay/client/contract";
import * as z from "zod/mini";

const { apikey, cardnumber, amount } = endpoints.devalue.request.def.in.shape;

/** A till's request to put money on a card. */
interface LoadRequest {
  readonly apiKey: Secret;
  readonly cardNumber: Secret;
  readonly amountCents: Cents | undefined;
}

const loaded = z.object({ success: z.literal(true), amount_loaded: z.int() });

/** A till's operation: like a devalue, but without a PIN, which the seller of a card doesn't see. */
const load = {
  ...endpoints.devalue,
  auth: "key",
  required: null,
  response: z.codec(loaded, z.custom<{ success: true; loadedCents: Cents }>(), {
    decode: (wire) => ({ success: wire.success, loadedCents: wire.amount_loaded as Cents }),
    encode: (named) => ({ success: named.success, amount_loaded: named.loadedCents }),
  }),
} as const;

const codec = {
  decode: (wire: { apikey: Secret; cardnumber: Secret; amount?: Cents | undefined }): LoadRequest => ({
    apiKey: wire.apikey,
    cardNumber: wire.cardnumber,
    amountCents: wire.amount,
  }),
  encode: ({ apiKey, cardNumber, amountCents }: LoadRequest) => ({
    apikey: apiKey,
    cardnumber: cardNumber,
    amount: amountCents as Cents,
  }),
};

/** The operations of tills. They are not part of the interface for shops. */
const tillEndpoints = {
  activate: {
    ...load,
    path: "activate",
    request: z.codec(
      z.object({ apikey, cardnumber, amount: z.optional(amount) }, "must be an object"),
      z.custom<LoadRequest>(),
      codec,
    ),
    summary: "Activate a sold card",
  },
  topUp: {
    ...load,
    path: "top-up",
    request: z.codec(z.object({ apikey, cardnumber, amount }, "must be an object"), z.custom<LoadRequest>(), codec),
    summary: "Add an amount to an active card",
  },
} as const satisfies Record<string, Endpoint>;

/** All operations of the service: the nine of the interface, and those of tills. */
export const operations = { ...endpoints, ...tillEndpoints };

export type OperationName = keyof typeof operations;
export type TillOperation = Exclude<OperationName, EndpointName>;

/** The base path of the tills' operations. */
export const TILL_PATH = "/till/v1/";

/** Returns whether an operation is for tills. It then takes only the keys of tills, which no other operation takes. */
export const isForTills = (operation: OperationName): operation is TillOperation => operation in tillEndpoints;

/** Returns an operation's path, without a slash at its end. */
export const pathTo = (operation: OperationName): string =>
  (isForTills(operation) ? TILL_PATH : BASE_PATH) + nameOnWire(operation);

/** Returns an operation's name in its path, which metrics show. */
export const nameOnWire = (operation: OperationName): string => operations[operation].path.replace(/\/$/, "");
