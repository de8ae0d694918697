import cluster, { type Worker } from "node:cluster";
import { randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage, GymError } from "../../../base/errors.ts";
import { makeSocketDirectory } from "../../../base/files/door.ts";
import { Links } from "../../calls/link/links.ts";
import { splitRolloutPrefix } from "../../calls/rollout-id.ts";
import { type AppCall, Reply } from "../../calls/server-call.ts";
import type { RequestHandler, ServerApp } from "../app.ts";
import { MalformedBody } from "../body.ts";
import { workerCount } from "../host-settings.ts";
import { LinkEdge } from "../link-edge.ts";
import { endBecause, exitText, type ServerMessage, type StartMessage } from "./messages.ts";

/** Runs one server as several processes on one port. Returns a function that stops them. */
export async function forkWorkers(message: StartMessage): Promise<() => Promise<void>> {
  const count = workerCount(message.instance);
  const socketDirectory = makeSocketDirectory("workers-");
  // All workers of a server accept the tokens that any of them signs.
  const mcpSecret = randomBytes(32).toString("base64url");
  const cleanUp = () => rmSync(socketDirectory, { recursive: true, force: true });
  process.once("exit", cleanUp);
  cluster.setupPrimary({
    exec: process.argv[1] ?? fileURLToPath(import.meta.url),
    execArgv: process.execArgv,
  });
  let stopping = false;
  const workers: Worker[] = [];
  await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const worker = cluster.fork();
      workers.push(worker);
      return new Promise<void>((resolve, reject) => {
        worker.on("message", (reply: ServerMessage) => {
          if (reply.type === "loaded")
            worker.send({ ...message, worker: { index, count, socketDirectory, mcpSecret } });
          else if (reply.type === "ready") resolve();
          else if (reply.type === "failed") reject(new GymError("SERVER_START", reply.message));
          else process.send?.(reply);
        });
        worker.on("exit", (code, signal) => {
          const message = `has failed: its worker ${index} ${exitText(code, signal)}`;
          reject(new GymError("SERVER_START", `worker ${index} ${exitText(code, signal)} while starting`));
          if (stopping) return;
          // The state of the worker's rollouts is lost, so the whole instance has failed.
          endBecause(message);
        });
      });
    }),
  );
  return async () => {
    stopping = true;
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((resolve) => {
            if (worker.isDead()) return resolve();
            worker.once("exit", () => resolve());
            worker.process.kill("SIGTERM");
          }),
      ),
    );
    cleanUp();
  };
}

/**
 * Lets several workers hold the state of sessions and rollouts: the id of the session, else that of the rollout,
 * determines the worker that owns it. A worker forwards requests that another worker owns.
 */
export function sessionAffinity({ index, count, socketDirectory }: NonNullable<StartMessage["worker"]>) {
  const socketOf = (worker: number) => join(socketDirectory, `${worker}.sock`);
  const links = new Links(
    new Map(Array.from({ length: count }, (_, worker) => [String(worker), socketOf(worker)])),
  );
  let own: RequestHandler | undefined;
  let edge: LinkEdge | undefined;

  return {
    newSessionId(): string {
      for (;;) {
        const id = randomUUID();
        if (ownerOf(id, count) === index) return id;
      }
    },
    intercept(app: ServerApp, handler: RequestHandler): RequestHandler {
      own = handler;
      return {
        name: app.name,
        async handle(call) {
          const belongsTo = stateOf(app, call);
          const owner = belongsTo === undefined ? index : ownerOf(belongsTo, count);
          return owner === index ? handler.handle(call) : forward(links, owner, app.name, call);
        },
        unwritable: (call, error) => app.unwritable(call, error),
      };
    },
    async listen(): Promise<void> {
      if (own) edge = await LinkEdge.listen(new Map([[own.name, own]]), socketOf(index));
    },
    async close(): Promise<void> {
      edge?.close();
      links.close();
    },
  };
}

/** The state that a call uses: a model server counts by rollout and keeps no sessions. */
function stateOf(app: ServerApp, call: AppCall): string | undefined {
  return app.type === "responses_api_models" ? splitRolloutPrefix(call.path).rolloutId : app.sessionOf(call);
}

function ownerOf(id: string, count: number): number {
  let hash = 0;
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) >>> 0;
  return hash % count;
}

/** Forwards a call to the worker that has its session. */
async function forward(links: Links, worker: number, server: string, call: AppCall): Promise<Reply> {
  const { method, path, cookies, signal } = call;
  const [body, headers] = [textOf(call.body), plainHeaders(call.headers)];
  try {
    const link = await links.to(String(worker));
    if (!link) throw new Error("the connection failed");
    return new Reply(await link.call({ method, server, path, body, cookies, headers, signal }));
  } catch (error) {
    const detail = `worker ${worker} of ${server} has this session but cannot be reached: ${errorMessage(error)}`;
    return new Reply({ status: 503, body: { detail } });
  }
}

function textOf(body: unknown): string {
  if (body === undefined) return "";
  return body instanceof MalformedBody ? body.text : JSON.stringify(body);
}

function plainHeaders(headers: AppCall["headers"]): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === "string") plain[name] = value;
  return plain;
}
