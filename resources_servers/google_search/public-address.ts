import { BlockList, isIP } from "node:net";

/** IPv4 ranges that are not public: private, loopback, link-local, shared, reserved, documentation, multicast. */
const reserved = new BlockList();
for (const [network, prefix] of [
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
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  reserved.addSubnet(network, prefix, "ipv4");
}

/** In IPv6 only global unicast is public, except for its documentation, tunnel and translation ranges. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");
const translated = new BlockList();
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  translated.addSubnet(network, prefix, "ipv6");
}

/** Whether an IP address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !reserved.check(address, "ipv4");
    case 6:
      return globalUnicast.check(address, "ipv6") && !translated.check(address, "ipv6");
    default:
      return false;
  }
}
