import { createServer } from "node:net";

/** Above the ports that runs choose, below those that the system uses for outgoing connections. */
const FIRST_PORT = 20_001;
const PORTS = 12_000;
/** Test files that run at the same time start at different ports. */
let next = Math.floor(Math.random() * PORTS);

/** A free port. No port is returned twice, because some time may pass before a server listens on it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (next++ % PORTS);
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
