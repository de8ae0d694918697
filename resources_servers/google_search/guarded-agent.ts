import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { GymError } from "nemo-gym";
import { Agent } from "undici";

export interface Address {
  address: string;
  family: number;
}

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<Address[]>;

/** A request to an address that is not allowed. */
export class AddressRefusedError extends GymError {
  constructor(host: string) {
    super("GOOGLE_SEARCH_ADDRESS", `${host} is not on the public internet`);
  }
}

const resolveBySystem: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/**
 * Connects only to addresses that `isAllowed` accepts. A name is resolved once per connection, and the connection uses the
 * checked address, so later changes of the name do not matter. One forbidden address blocks the name.
 */
export class GuardedAgent {
  readonly dispatcher: Agent;
  readonly #isAllowed: (address: string) => boolean;

  constructor(isAllowed: (address: string) => boolean, resolve: Resolve = resolveBySystem) {
    this.#isAllowed = isAllowed;
    const lookup: LookupFunction = (hostname, options, callback) => {
      resolve(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
            callback(new AddressRefusedError(hostname), "", 0);
          } else if (options.all) callback(null, addresses);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, "", 0),
      );
    };
    this.dispatcher = new Agent({ connect: { lookup }, connections: 16, keepAliveTimeout: 1000 });
  }

  /** IP addresses in a URL are not resolved, so they are checked here. */
  check(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !this.#isAllowed(host)) throw new AddressRefusedError(host);
  }

  close(): Promise<void> {
    return this.dispatcher.destroy();
  }
}
