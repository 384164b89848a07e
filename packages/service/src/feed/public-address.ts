import dns from "node:dns";
import net, { type LookupFunction } from "node:net";

/** All addresses that are not on the public Internet, by IANA's registries of special addresses. */
const special = new net.BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  special.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4: these contain any IPv4 address.
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  special.addSubnet(address, prefix, "ipv6");

/** All assigned IPv6 addresses. IPv4-mapped addresses are not among them. */
const global = new net.BlockList();
global.addSubnet("2000::", 3, "ipv6");

/** Returns whether an address is on the public Internet: not this machine, a private network, or the inside of a cloud. */
export function isPublicAddress(address: string): boolean {
  if (net.isIPv4(address)) return !special.check(address, "ipv4");
  return net.isIPv6(address) && global.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Addresses that are never allowed, even with private ones: those at which clouds give machines their keys, and invalid ones. */
const neverFeeds = new net.BlockList();
neverFeeds.addSubnet("0.0.0.0", 8, "ipv4");
neverFeeds.addSubnet("169.254.0.0", 16, "ipv4");
neverFeeds.addSubnet("fe80::", 10, "ipv6");
for (const address of ["100.100.100.200", "168.63.129.16"]) neverFeeds.addAddress(address, "ipv4");
neverFeeds.addAddress("fd00:ec2::254", "ipv6");

/** Returns whether a feed may be at an address if private addresses are allowed. */
export function isPrivateOrPublic(address: string): boolean {
  return !neverFeeds.check(address, net.isIPv6(address) ? "ipv6" : "ipv4");
}

/** Returns whether an address may be connected to. */
export type AddressRule = (address: string) => boolean;

/** Thrown if a name or address leads only to forbidden addresses. */
export class ForbiddenAddress extends Error {
  constructor() {
    super("the rule forbids the address");
    this.name = "ForbiddenAddress";
  }
}

/**
 * Creates a lookup that returns only allowed addresses. The connection uses this lookup's result, so a DNS answer that
 * changes afterwards has no effect.
 */
export const lookUpBy =
  (rule: AddressRule): LookupFunction =>
  (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = error ? [] : found.filter(({ address }) => rule(address));
      const [first] = addresses;
      if (error) callback(error, []);
      else if (!first) callback(new ForbiddenAddress(), []);
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
