import { readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { userDirectory } from "../../base/files/door.ts";
import type { CollectionSnapshot, RunningSnapshot } from "../../records/light-door.ts";
import type { Collection } from "./collect.ts";
import type { StartedRollout } from "./started-rollout.ts";

/** Requests are one short line; a client that sends more is disconnected. */
const MAX_REQUEST = 10_000;
/** An idle client is disconnected after this time. */
const IDLE_MS = 5_000;
const ANSWER_LIMIT_MS = 5_000;

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

/**
 * Shows and controls a running collection over a Unix socket, for `gym eval ctl` in another terminal. Returns a
 * function that closes the socket.
 */
export async function openControlSocket(collection: Collection, output: string): Promise<() => void> {
  const path = join(userDirectory(), `${nextSocketName()}.sock`);
  const server = createServer((socket) =>
    serve(socket, (request) => answerControl(collection, output, request)),
  );
  server.unref();
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  const remove = () => rmSync(path, { force: true });
  process.once("exit", remove);
  return () => {
    server.close();
    remove();
    process.removeListener("exit", remove);
  };
}

let opened = 0;

/** The first collection of a process has its id as name: `gym eval ctl --pid` finds it. A program may run several. */
function nextSocketName(): string {
  opened++;
  return opened === 1 ? `${process.pid}` : `${process.pid}-${opened}`;
}

function serve(socket: Socket, answer: (request: string) => ControlAnswer): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > MAX_REQUEST) socket.destroy();
    const end = text.indexOf("\n");
    if (end >= 0) socket.end(`${JSON.stringify(answer(text.slice(0, end)))}\n`);
  });
}

/** Handles a request of `gym eval ctl` and describes the collection. */
export function answerControl(collection: Collection, output: string, line: string): ControlAnswer {
  let request: ControlRequest;
  try {
    request = JSON.parse(line) as ControlRequest;
  } catch {
    return rejection("the request is not JSON");
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
      if (collection.cancel(String(request.id), "cancelled by gym eval ctl")) break;
      return rejection(`no rollout '${request.id}' is running`, { running: idsOf(collection.running) });
    case "retry":
      if (collection.retry(String(request.id))) break;
      return rejection(`rollout '${request.id}' neither runs nor failed in this session`, {
        lost: idsOf(collection.lost),
      });
    case "concurrency":
      if (request.limit !== null && !(Number.isInteger(request.limit) && request.limit > 0))
        return rejection("the concurrency must be a whole number above 0, or null for automatic");
      collection.setConcurrency(request.limit);
      break;
    default:
      return rejection(`unknown command ${JSON.stringify((request as { command?: unknown }).command)}`);
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

type Rejection = Extract<ControlAnswer, { ok: false }>;

const rejection = (error: string, known: Pick<Rejection, "running" | "lost"> = {}): Rejection => ({
  ok: false,
  error,
  ...known,
});

const idsOf = (rollouts: readonly { id: string }[]): string[] => rollouts.map(({ id }) => id);

function shown(rollout: StartedRollout): RunningSnapshot {
  const { id, agent, attempt, stage, what, lastStage } = rollout;
  const now = performance.now();
  return {
    id,
    agent,
    attempt,
    stage,
    what,
    seconds: (now - rollout.startedAt) / 1000,
    stage_seconds: (now - rollout.stageSince) / 1000,
    model_calls: rollout.modelCalls,
    last_event: lastStage
      ? { stage: lastStage.stage, what: lastStage.what, seconds: lastStage.milliseconds / 1000 }
      : null,
  };
}

export interface RunningCollection {
  socket: string;
  answer: ControlAnswer;
}

/** Returns the running collections of this user on this machine. */
export async function runningCollections(): Promise<RunningCollection[]> {
  const found = await Promise.all(controlSockets().map(showCollection));
  return found.filter((entry) => entry !== undefined);
}

/** Returns the requested collection as soon as it answers, without waiting for others, which may be too busy. */
export function findCollection(
  isWanted: (answer: ControlAnswer) => Promise<boolean>,
): Promise<RunningCollection | undefined> {
  return new Promise((resolve, reject) => {
    const searches = controlSockets().map(async (socket) => {
      const found = await showCollection(socket);
      if (found && (await isWanted(found.answer))) resolve(found);
    });
    Promise.all(searches).then(() => resolve(undefined), reject);
  });
}

/** The sockets of this user's collections: running ones, and ones that were killed before they could clean up. */
function controlSockets(): string[] {
  const directory = userDirectory();
  return readdirSync(directory)
    .filter((name) => name.endsWith(".sock"))
    .map((name) => join(directory, name));
}

async function showCollection(socket: string): Promise<RunningCollection | undefined> {
  try {
    return { socket, answer: await askCollection(socket, { command: "show" }) };
  } catch (error) {
    // A killed run left its socket behind. A busy run still accepts connections.
    if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") rmSync(socket, { force: true });
    return undefined;
  }
}

/** Sends one request to the control socket of a collection. */
export function askCollection(socketPath: string, request: ControlRequest): Promise<ControlAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error("no answer")));
    socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("end", () => {
      try {
        resolve(JSON.parse(text) as ControlAnswer);
      } catch (error) {
        reject(error);
      }
    });
  });
}
