import { createServer } from "node:net";

/** Above those that runs choose for themselves, below those the system takes for outgoing connections. */
const FIRST_PORT = 20_001;
const PORTS = 12_000;
/** Files that run at the same time begin at different places. */
let next = Math.floor(Math.random() * PORTS);

/** A port nothing listens on. None is given twice: some time may go by before somebody listens on it. */
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
