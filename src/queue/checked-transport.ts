import { type NatsConnection, NatsConnectionImpl, setTransportFactory } from "@nats-io/transport-node";
import type { NodeConnectionOptions } from "@nats-io/transport-node/lib/connect.js";
import { NodeTransport, nodeResolveHost } from "@nats-io/transport-node/lib/node_transport.js";
import { QueueError } from "./errors.ts";
import { isLocalPeer, ownerOfPeer } from "./peer-owner.ts";

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
 * Every user of a machine can listen on a free port of it, and NATS does not authenticate the server: a stranger would get
 * the password and could send runs to workers. TLS does authenticate it.
 */
class CheckedTransport extends NodeTransport {
  override async connect(
    address: { hostname: string; port: number; tlsName: string },
    options: CheckedOptions,
  ): Promise<void> {
    // Resolves after the first message of the broker, before anything is sent to it.
    await super.connect(address, options);
    const { socket } = this;
    if (this.isEncrypted() || options.trustedOwner === "any" || !isLocalPeer(socket)) return;
    const owner = await ownerOfPeer(socket);
    if (owner !== undefined && [process.getuid?.(), 0, options.trustedOwner].includes(owner)) return;
    const error = strangerError(`${address.hostname}:${address.port}`, owner);
    options.onStranger?.(error);
    socket.destroy();
    throw error;
  }
}

function strangerError(name: string, owner: number | undefined): QueueError {
  return new QueueError(
    "QUEUE_UNTRUSTED",
    owner === undefined
      ? `It cannot be told which user of this machine listens at ${name}, so nothing was sent there. Use a broker with TLS, or set queue_owner to 'any' if you trust all users.`
      : `User ${owner} of this machine listens at ${name}, so nothing was sent there. If that is your broker, set queue_owner to ${owner}.`,
  );
}
