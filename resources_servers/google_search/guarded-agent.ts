import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { GymError } from "nemo-gym";
import { Agent } from "undici";

export interface Address {
  address: string;
  family: number;
}

/** Gives every address of a host name. */
export type Resolve = (hostname: string) => Promise<Address[]>;

/** A request that would have gone where it must not. */
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
 * Connects only to addresses that `isAllowed`. A name is resolved once for each connection, and the connection goes to the address
 * that was looked at: what the name leads to a moment later does not matter. One forbidden address refuses the name.
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

  /** Addresses written out in a URL are never looked up, so they are checked here. */
  check(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !this.#isAllowed(host)) throw new AddressRefusedError(host);
  }

  close(): Promise<void> {
    return this.dispatcher.destroy();
  }
}
