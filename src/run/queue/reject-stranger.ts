import type { Socket } from "node:net";
import { QueueError } from "./errors.ts";
import { isLocalPeer, ownerOfPeer } from "./peer-owner.ts";

/**
 * Rejects if the other end of a connection is on this machine and belongs to another user. Every user of a machine can listen
 * on a free port of it, for example on that of a broker or collector that has ended.
 */
export async function rejectStranger(
  socket: Socket,
  name: string,
  /** See `BrokerSettings.owner`. */
  trusted: number | "any" | undefined,
): Promise<void> {
  if (trusted === "any" || !isLocalPeer(socket)) return;
  const owner = await ownerOfPeer(socket);
  if (owner !== undefined && [process.getuid?.(), 0, trusted].includes(owner)) return;
  throw new QueueError(
    "QUEUE_UNTRUSTED",
    owner === undefined
      ? `It cannot be told which user of this machine listens at ${name}, so nothing was sent there. Use a broker with TLS, or set queue_owner to 'any' if you trust all users.`
      : `User ${owner} of this machine listens at ${name}, so nothing was sent there. If you trust this user, set queue_owner to ${owner}.`,
  );
}
