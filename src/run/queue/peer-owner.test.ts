import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { expect, it } from "vitest";
import { isLocalPeer, ownerOfPeer } from "./peer-owner.ts";

/** Connects, and waits for the first bytes of the server, as the client of a broker does. */
async function connected<T>(
  { listen, to }: { listen: string; to: string },
  use: (socket: ReturnType<typeof connect>, server: Server) => Promise<T>,
): Promise<T> {
  const server = createServer((client) => client.on("error", () => {}).write("INFO")).listen(0, listen);
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, to);
  try {
    await once(socket, "data");
    return await use(socket, server);
  } finally {
    socket.destroy();
    server.close();
  }
}

it.runIf(process.platform === "linux").each([
  { listen: "127.0.0.1", to: "127.0.0.1" },
  { listen: "::1", to: "::1" },
  { listen: "::", to: "127.0.0.1" },
  { listen: "127.0.0.2", to: "127.0.0.2" },
])("finds the owner of $listen as seen from $to", async (addresses) => {
  await connected(addresses, async (socket, server) => {
    expect(isLocalPeer(socket)).toBe(true);
    expect(await ownerOfPeer(socket)).toBe(process.getuid?.());
    // The owner is that of the connection, not that of whoever listens now.
    server.close();
    expect(await ownerOfPeer(socket)).toBe(process.getuid?.());
  });
});

it.runIf(process.platform === "linux")("does not know the owner of an end that was closed", async () => {
  const server = createServer((client) => client.write("INFO", () => client.destroy())).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const socket = connect({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  await once(socket.resume(), "end");
  server.close();
  expect(await ownerOfPeer(socket)).toBeUndefined();
  socket.destroy();
});
