import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * The address that a call comes from.
 *
 * @param proxies how many proxies before the service add to X-Forwarded-For: the address that the first of them saw is so
 * many entries from the end, and what stands before it is whatever the caller wrote
 */
export function callerAddress(incoming: IncomingMessage, proxies: number): string {
  const direct = incoming.socket.remoteAddress ?? "";
  if (proxies === 0) return direct;
  const forwarded = String(incoming.headers["x-forwarded-for"] ?? "").split(",");
  const address = forwarded.at(-proxies)?.trim() ?? "";
  return isIP(address) === 0 ? direct : address;
}
