import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { whileGymRuns } from "./gym-program.ts";

/** A running viewer: its API, its process and its address. */
export interface Viewing {
  ask: (address: string) => Promise<unknown>;
  pid: number;
  url: string;
}

/** Runs the viewer on a file during `use`. */
export async function viewing<T>(file: string, use: (viewer: Viewing) => Promise<T>): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const args = ["eval", "view", file, "--no-token", "--port", String(port)];
  const ask = async (address: string) => {
    const { statusCode, body } = await request(`${url}api/${address}`);
    if (statusCode !== 200) throw new Error(`${statusCode} from /api/${address}: ${await body.text()}`);
    return body.json();
  };
  return whileGymRuns(args, path.dirname(file), "Viewing", (pid) => use({ ask, pid, url }));
}

/** Waits until the file has been read to its end. */
export async function indexed({ ask }: Pick<Viewing, "ask">): Promise<void> {
  while (((await ask("status")) as { indexing: boolean }).indexing) await sleep(50);
}

/** Milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
