import dns from "node:dns";
import net, { type LookupFunction } from "node:net";

/** Everything that isn't the public Internet, by the registries of special addresses that IANA keeps. */
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
  // An IPv4 address stands inside, which may be any.
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  special.addSubnet(address, prefix, "ipv6");

/** All that was ever given out of IPv6. IPv4 addresses that are written as IPv6 are not in it. */
const global = new net.BlockList();
global.addSubnet("2000::", 3, "ipv6");

/** Whether an address is one of the public Internet: not of this machine, the network around it, or a cloud's inside. */
export function isPublicAddress(address: string): boolean {
  if (net.isIPv4(address)) return !special.check(address, "ipv4");
  return net.isIPv6(address) && global.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Where a cloud tells a machine its own keys, and what else no feed is ever at, also in a network of one's own. */
const neverFeeds = new net.BlockList();
neverFeeds.addSubnet("0.0.0.0", 8, "ipv4");
neverFeeds.addSubnet("169.254.0.0", 16, "ipv4");
neverFeeds.addSubnet("fe80::", 10, "ipv6");
for (const address of ["100.100.100.200", "168.63.129.16"]) neverFeeds.addAddress(address, "ipv4");
neverFeeds.addAddress("fd00:ec2::254", "ipv6");

/** Whether a feed may be at an address where it needn't be on the public Internet. */
export function isNearbyOrPublic(address: string): boolean {
  return !neverFeeds.check(address, net.isIPv6(address) ? "ipv6" : "ipv4");
}

/** Which addresses may be connected to. */
export type AddressRule = (address: string) => boolean;

/** A name, or an address, leads only to where the rule forbids to connect. */
export class ForbiddenAddress extends Error {
  constructor() {
    super("the rule forbids the address");
    this.name = "ForbiddenAddress";
  }
}

/**
 * Looks a name up for one connection, and leaves out what the rule forbids. It is connected to what is found here, so a
 * name that says something else the next time it is asked changes nothing.
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
