import { readdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { userDirectory } from "../../files/private-directory.ts";
import type { Collection } from "./collect.ts";
import type { RunningRollout } from "./collect-contract.ts";
import type { CollectionSnapshot, RunningSnapshot } from "./progress-snapshot.ts";

/** Requests are one short line; a client that sends more is disconnected. */
const MAX_REQUEST = 10_000;
/** An idle client is disconnected after this time. */
const IDLE_MS = 5_000;

export type ControlRequest =
  | { command: "show" }
  | { command: "pause" }
  | { command: "resume" }
  | { command: "cancel"; id: string }
  | { command: "retry"; id: string }
  | { command: "concurrency"; limit: number | null };

/** The answer of a collection to a control request. */
export type ControlAnswer =
  | ({ ok: true } & CollectionSnapshot)
  /** Also lists the rollouts that a request can name. */
  | { ok: false; error: string; running?: string[]; lost?: string[] };

/** Returns the sockets of this user's collections: running ones, and ones that were killed before they could clean up. */
export function controlSockets(): string[] {
  const directory = userDirectory();
  return readdirSync(directory)
    .filter((name) => name.endsWith(".sock"))
    .map((name) => join(directory, name));
}

/** Shows and controls a running collection over a Unix socket, for `gym eval ctl` in another terminal. */
export class ControlServer {
  readonly path: string;
  readonly #server: Server;
  readonly #collection: Collection;
  readonly #output: string;

  private constructor(collection: Collection, output: string) {
    this.#collection = collection;
    this.#output = output;
    this.path = join(userDirectory(), `${process.pid}.sock`);
    this.#server = createServer((socket) => this.#serve(socket));
    this.#server.unref();
  }

  static async listen(collection: Collection, output: string): Promise<ControlServer> {
    const control = new ControlServer(collection, output);
    rmSync(control.path, { force: true });
    await new Promise<void>((resolve, reject) => {
      control.#server.once("error", reject);
      control.#server.listen(control.path, () => resolve());
    });
    return control;
  }

  close(): void {
    this.#server.close();
    rmSync(this.path, { force: true });
  }

  #serve(socket: Socket): void {
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_REQUEST) socket.destroy();
      const end = text.indexOf("\n");
      if (end >= 0)
        socket.end(`${JSON.stringify(answerControl(this.#collection, this.#output, text.slice(0, end)))}\n`);
    });
  }
}

/** Handles a request of `gym eval ctl` and describes the collection. */
export function answerControl(collection: Collection, output: string, line: string): ControlAnswer {
  let request: ControlRequest;
  try {
    request = JSON.parse(line) as ControlRequest;
  } catch {
    return { ok: false, error: "the request is not JSON" };
  }
  switch (request.command) {
    case "show":
      break;
    case "pause":
      collection.pause();
      break;
    case "resume":
      collection.resume();
      break;
    case "cancel":
      if (!collection.cancel(String(request.id), "cancelled by gym eval ctl")) {
        const running = collection.running.map(({ id }) => id);
        return { ok: false, error: `no rollout '${request.id}' is running`, running };
      }
      break;
    case "retry":
      if (!collection.retry(String(request.id)))
        return {
          ok: false,
          error: `rollout '${request.id}' neither runs nor failed in this session`,
          lost: collection.lost.map(({ id }) => id),
        };
      break;
    case "concurrency":
      if (request.limit !== null && !(Number.isInteger(request.limit) && request.limit > 0)) {
        return {
          ok: false,
          error: "the concurrency must be a whole number above 0, or null for automatic",
        };
      }
      collection.setConcurrency(request.limit);
      break;
    default:
      return {
        ok: false,
        error: `unknown command ${JSON.stringify((request as { command?: unknown }).command)}`,
      };
  }
  return {
    ok: true,
    pid: process.pid,
    output,
    paused: collection.paused,
    automatic_concurrency: collection.concurrency.automatic,
    ...collection.snapshot(),
    running: collection.running.map(shown),
    lost: collection.lost,
  };
}

function shown({
  id,
  agent,
  attempt,
  stage,
  what,
  startedAt,
  stageSince,
  modelCalls,
  lastStage,
}: RunningRollout): RunningSnapshot {
  const now = performance.now();
  return {
    id,
    agent,
    attempt,
    stage,
    what,
    seconds: (now - startedAt) / 1000,
    stage_seconds: (now - stageSince) / 1000,
    model_calls: modelCalls,
    last_event: lastStage
      ? { stage: lastStage.stage, what: lastStage.what, seconds: lastStage.milliseconds / 1000 }
      : null,
  };
}
