import cluster, { type Worker } from "node:cluster";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Pool } from "undici";
import { cookieHeader, parseSetCookies } from "../../client/cookies.ts";
import { loadPool } from "../../client/undici-parts.ts";
import { GymError } from "../../errors.ts";
import { type AppCall, type AppReply, MalformedBody, type ServerApp } from "../app.ts";
import { HttpEdge } from "../http-edge.ts";
import type { ServerMessage, StartMessage } from "./messages.ts";
import { workerCount } from "./placement.ts";

/** Runs one server as several processes on one port; gives back how to stop them. */
export async function forkWorkers(message: StartMessage): Promise<() => Promise<void>> {
  const count = workerCount(message.instance);
  const socketDirectory = mkdtempSync(join(tmpdir(), "nemo-gym-workers-"));
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
          if (reply.type === "loaded") worker.send({ ...message, worker: { index, count, socketDirectory } });
          else if (reply.type === "ready") resolve();
          else if (reply.type === "failed") reject(new GymError("SERVER_START", reply.message));
          else process.send?.(reply);
        });
        worker.on("exit", (code, signal) => {
          const how = signal ? `signal ${signal}` : `code ${code}`;
          reject(new GymError("SERVER_START", `worker ${index} ended with ${how} while starting`));
          if (stopping) return;
          console.error(`worker ${index} ended with ${how}`);
          // State of the rollouts it held is lost: the instance has failed as a whole.
          process.exit(1);
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
 * Lets several workers hold session state: a session id tells which worker owns it, and a worker that gets another's
 * request passes it on.
 */
export function sessionAffinity({ index, count, socketDirectory }: NonNullable<StartMessage["worker"]>) {
  const socketOf = (worker: number) => join(socketDirectory, `${worker}.sock`);
  const pools = new Map<number, Pool>();
  const poolOf = (worker: number): Pool => {
    let pool = pools.get(worker);
    if (!pool) {
      pool = new (loadPool())("http://worker", {
        socketPath: socketOf(worker),
        connections: 256,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      pools.set(worker, pool);
    }
    return pool;
  };
  let own: ServerApp | undefined;
  let edge: HttpEdge | undefined;

  return {
    newSessionId(): string {
      for (;;) {
        const id = randomUUID();
        if (ownerOf(id, count) === index) return id;
      }
    },
    intercept(app: ServerApp): ServerApp {
      own = Object.create(app, { handle: { value: app.handle.bind(app) } }) as ServerApp;
      const local = own;
      app.handle = async (call: AppCall): Promise<AppReply> => {
        const sessionId = app.cookie.read(call.cookies[app.cookie.name]);
        const owner = sessionId === undefined ? index : ownerOf(sessionId, count);
        return owner === index ? local.handle(call) : forward(poolOf(owner), call);
      };
      return app;
    },
    async listen(): Promise<void> {
      if (own) edge = await HttpEdge.listen(own, { host: "", port: 0, socketPath: socketOf(index) });
    },
    async close(): Promise<void> {
      await edge?.close();
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

function ownerOf(sessionId: string, count: number): number {
  let hash = 0;
  for (let i = 0; i < sessionId.length; i++) hash = (Math.imul(hash, 31) + sessionId.charCodeAt(i)) >>> 0;
  return hash % count;
}

async function forward(pool: Pool, call: AppCall): Promise<AppReply> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  const cookie = cookieHeader(call.cookies);
  if (cookie) headers["cookie"] = cookie;
  const { body } = call;
  const reply = await pool.request({
    method: call.method as "GET" | "POST",
    path: call.path,
    headers,
    ...(body !== undefined && { body: body instanceof MalformedBody ? body.text : JSON.stringify(body) }),
    signal: call.signal,
  });
  return {
    status: reply.statusCode,
    raw: await reply.body.text(),
    cookies: parseSetCookies(reply.headers["set-cookie"]),
  };
}
