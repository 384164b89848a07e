import type { IncomingMessage } from "node:http";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.js";

/** Returns the operation of a call to Stripe. A session's operations begin with `session`. */
function operationOf({ method, url = "" }: IncomingMessage): string {
  const [, , kind, id, action, sessionAction] = new URL(url, "http://stripe").pathname.split("/");
  if (kind === "refunds") return method === "GET" ? "refunds" : "refund";
  if (kind === "customers") return "customer";
  const prefix = kind === "checkout" ? `${id?.replace(/s$/, "")}-` : "";
  if (method === "GET") return `${prefix}retrieve`;
  return `${prefix}${(prefix === "" ? action : sessionAction) ?? "create"}`;
}

/**
 * Starts a network to Stripe that can fail, with operations such as `create`, `retrieve`, `confirm`, `cancel`, `capture`,
 * `refund`, `refunds` (their list), `customer`, `session-create`, `session-retrieve` and `session-expire`.
 */
export const startStripeWire = (url: string): Promise<FaultProxy> => startFaultProxy(url, operationOf);
