import { type NatsConnection, NatsConnectionImpl, setTransportFactory } from "@nats-io/transport-node";
import type { NodeConnectionOptions } from "@nats-io/transport-node/lib/connect.js";
// The package exports no other way to see the socket between its opening and the login.
import { NodeTransport, nodeResolveHost } from "@nats-io/transport-node/lib/node_transport.js";
import type { QueueError } from "./errors.ts";
import { rejectStranger } from "./reject-stranger.ts";

interface CheckedOptions extends NodeConnectionOptions {
  /** See `BrokerSettings.owner`. */
  trustedOwner?: number | "any";
  /** Receives the error of each connection to a stranger. */
  onStranger?: (error: QueueError) => void;
}

/** Connects to NATS. Sends nothing to a broker on this machine that belongs to another user, also after a reconnect. */
export function connectChecked(options: CheckedOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new CheckedTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}

/**
 * NATS does not authenticate the server: a stranger would get the password and could send runs to workers. TLS does
 * authenticate it.
 */
class CheckedTransport extends NodeTransport {
  override async connect(
    address: { hostname: string; port: number; tlsName: string },
    options: CheckedOptions,
  ): Promise<void> {
    // Resolves after the first message of the broker, before anything is sent to it.
    await super.connect(address, options);
    if (this.isEncrypted()) return;
    try {
      await rejectStranger(this.socket, `${address.hostname}:${address.port}`, options.trustedOwner);
    } catch (error) {
      options.onStranger?.(error as QueueError);
      this.socket.destroy();
      throw error;
    }
  }
}
