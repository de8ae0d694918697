import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { makeDirectory } from "../../base/files/door.ts";
import { type BrokerSettings, connectBroker, QueueError } from "../../run/queue/door.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import type { brokerFlags } from "../commands/distributed.ts";
import { UsageError } from "../errors.ts";
import { findLocalSeed, keepLocalSeed, removeLocalSeed } from "./broker-settings.ts";

const ANSWER_PAUSE_MS = 100;

/** Runs `gym queue up`: nats-server in the foreground, with its log. */
export async function queueUp(
  { env, io, err, signal }: CommandContext,
  { host, port, directory: store }: FlagValues<typeof brokerFlags>,
): Promise<number> {
  const { NATS_USER: user, NATS_PASSWORD: password } = env;
  const given = user && password ? { user, password } : undefined;
  const isLocal = host === "127.0.0.1" || host === "::1" || host === "localhost";
  if (!isLocal && !given)
    throw new UsageError(
      `set NATS_USER and NATS_PASSWORD: a broker on ${host} is open to everyone who can reach it`,
    );
  const directory = path.resolve(io.cwd, store);
  await rejectTakenPort(host, port);
  await makeDirectory(directory);
  await chmod(directory, 0o700);
  const listen = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const authorization = given ?? { users: [{ nkey: makeLocalKey(port) }] };
  const settings = await mkdtemp(path.join(tmpdir(), "nemo-gym-nats-"));
  try {
    // A file, because other users can read the arguments of a command.
    const file = path.join(settings, "nats.json");
    const config = { listen, jetstream: { store_dir: directory }, authorization };
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    const ended = new AbortController();
    const url = `nats://${listen}`;
    void answers({ url, ...given, findSeed: () => findLocalSeed(url) }, ended.signal).then((isUp) => {
      if (!isUp) return;
      err(`Broker at ${url}, files in ${directory}. Ctrl-C stops it.`);
      if (!given)
        err("Commands of this user log in by themselves. For others, set NATS_USER and NATS_PASSWORD.");
    });
    return await serve(file, signal).finally(() => ended.abort());
  } finally {
    await rm(settings, { recursive: true, force: true });
    if (!given) removeLocalSeed(port);
  }
}

/** Returns the public key. The private one is never sent, so that nothing can be learned by taking the broker's port. */
function makeLocalKey(port: number): string {
  const pair = nkeys.createUser();
  keepLocalSeed(port, new TextDecoder().decode(pair.getSeed()));
  return pair.getPublicKey();
}

/** The server also reports this, but inside its log. */
async function rejectTakenPort(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    // Other problems with the address are in the log of the server.
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return;
    throw new QueueError(
      "QUEUE_SERVER",
      `Port ${port} of ${host} is in use, perhaps by another broker. Choose another one with --port.`,
      { cause: error },
    );
  }
  server.close();
  await once(server, "close");
}

/** Waits until the broker accepts connections; false if it ended before. */
async function answers(settings: BrokerSettings, ended: AbortSignal): Promise<boolean> {
  while (!ended.aborted) {
    try {
      await (await connectBroker(settings, { name: "gym queue up" })).close();
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, ANSWER_PAUSE_MS));
    }
  }
  return false;
}

function serve(config: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("nats-server", ["-c", config], { stdio: ["ignore", "inherit", "inherit"] });
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop);
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new QueueError(
              "QUEUE_SERVER",
              "nats-server is not installed. On Debian and Ubuntu: apt-get install nats-server; elsewhere see nats.io/download.",
            )
          : error,
      ),
    );
    child.once("exit", (code) => {
      signal.removeEventListener("abort", stop);
      resolve(signal.aborted ? 0 : (code ?? 1));
    });
  });
}
