import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Log } from "../monitoring/log.js";

/**
 * Creates a function that returns the address of a call's sender.
 *
 * @param proxies number of proxies before the service that add to X-Forwarded-For. The sender's address is that many
 *   entries from the end; the caller may have forged the earlier ones
 * @param log warned once if the header arrives although `proxies` is 0
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
