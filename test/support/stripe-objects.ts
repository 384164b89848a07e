import { randomBytes } from "node:crypto";

/** A PaymentIntent, with the fields of Stripe's that a shop or test reads. */
export interface StripeIntent {
  readonly id: string;
  readonly object: "payment_intent";
  amount: number;
  amount_capturable: number;
  amount_received: number;
  canceled_at: number | null;
  cancellation_reason: string | null;
  readonly capture_method: "automatic" | "manual";
  readonly client_secret: string;
  readonly created: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly description: string | null;
  last_payment_error: StripeFault | null;
  latest_charge: string | null;
  readonly livemode: false;
  readonly metadata: Readonly<Record<string, string>>;
  next_action: object | null;
  payment_method: string | null;
  readonly payment_method_types: readonly string[];
  status:
    | "requires_payment_method"
    | "requires_confirmation"
    | "requires_action"
    | "processing"
    | "requires_capture"
    | "succeeded"
    | "canceled";
}

export interface StripeMethod {
  readonly id: string;
  readonly object: "payment_method";
  readonly type: "card" | "sepa_debit";
  readonly card?: { readonly brand: string; readonly last4: string };
  readonly sepa_debit?: { readonly last4: string };
}

/** The `error` in a response of Stripe's. */
export interface StripeFault {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly param?: string;
  readonly decline_code?: string;
  readonly payment_intent?: StripeIntent;
  readonly payment_method?: StripeMethod | undefined;
}

/** A response with a status other than 200. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly fault: StripeFault;
  constructor(status: number, fault: StripeFault) {
    super(fault.message);
    this.status = status;
    this.fault = fault;
  }
}

/** @param fault without its type, which is `invalid_request_error` */
export const invalid = (fault: Omit<StripeFault, "type">, status = 400) =>
  new StripeRefusal(status, { type: "invalid_request_error", ...fault });

export const newId = (kind: string) => `${kind}_${randomBytes(12).toString("hex")}`;
export const now = () => Math.floor(Date.now() / 1000);
