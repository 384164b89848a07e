import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Log } from "../monitoring/log.js";

/**
 * Makes what tells the address that a call comes from.
 *
 * @param proxies how many proxies before the service add to X-Forwarded-For: the address that the first of them saw is so
 * many entries from the end, and what stands before it is whatever the caller wrote
 * @param log hears once that the header comes although no proxy is known
 */
export function callerAddresses(
  proxies: number,
  log: Pick<Log, "proxiesUnknown">,
): (incoming: IncomingMessage) => string {
  let isWarned = false;
  return ({ socket, headers }) => {
    const direct = socket.remoteAddress ?? "";
    const forwarded = headers["x-forwarded-for"];
    if (proxies === 0) {
      if (forwarded !== undefined && !isWarned) log.proxiesUnknown();
      isWarned ||= forwarded !== undefined;
      return direct;
    }
    const address =
      String(forwarded ?? "")
        .split(",")
        .at(-proxies)
        ?.trim() ?? "";
    return isIP(address) === 0 ? direct : address;
  };
}
