import { BlockList, isIP, isIPv6 } from "node:net";

/** An address with the port of its connection, as some proxies write it. The port differs each time. */
const withPort = /^\[(?<v6>[^\]]+)\](?::\d+)?$|^(?<v4>[\d.]+):\d+$/;

/** Addresses of proxies, of servers in the same network, and of this machine: many shoppers share one. */
const notPublic = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  notPublic.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  notPublic.addSubnet(net, prefix, "ipv6");

/** Returns an address without its port; undefined if it isn't an IP address, or not a public one. */
export function publicAddress(named: string | undefined): string | undefined {
  const { v4, v6 } = withPort.exec(named ?? "")?.groups ?? {};
  const address = (v4 ?? v6 ?? named ?? "").replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  const isKnown = isIP(address) !== 0 && !notPublic.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  return isKnown ? address : undefined;
}

/** Returns an address, or the first half of an IPv6 address: a provider gives each customer all addresses of the second half. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes(".")) return address;
  const [start = "", end] = address.toLowerCase().split("::");
  const [before, after] = [start, end ?? ""].map((half) => half.split(":").filter(Boolean));
  const missing = end === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  const groups = [...(before ?? []), ...Array<string>(missing).fill("0"), ...(after ?? [])];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
