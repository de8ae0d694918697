import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { GymError } from "../../../base/errors.ts";
import { LineSplitter } from "../guards/output-capture.ts";
import { exitText } from "./messages.ts";

const START_LIMIT_MS = 120_000;
const STOP_GRACE_MS = 5_000;
const KEPT_LINES = 5;

/**
 * Starts a cluster, prints its address and keeps it until stdin closes. That happens however this process ends, and
 * Ray's processes end with the process that started them.
 */
const HOLDER = `
import sys, ray
ray.init(include_dashboard=False, log_to_driver=False)
print("address " + ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
ray.shutdown()
`;

/** The data that a server needs to join a cluster. */
export interface RayCluster {
  address: string;
  /** Newer versions of Ray require a token; older ones ignore these variables. */
  environment: Record<string, string>;
}

/**
 * The Ray clusters of a run: one for all Python servers with the same versions of Python and Ray, which must match
 * within a cluster.
 */
export class RayClusters {
  readonly #clusters = new Map<string, Promise<RayCluster>>();
  readonly #holders = new Set<ChildProcess>();

  /** The cluster for `versions`. The first caller's interpreter starts it. */
  join(versions: string, python: string): Promise<RayCluster> {
    let cluster = this.#clusters.get(versions);
    if (!cluster) {
      cluster = this.#start(python);
      this.#clusters.set(versions, cluster);
    }
    return cluster;
  }

  async #start(python: string): Promise<RayCluster> {
    const environment = authentication();
    const holder = spawn(python, ["-c", HOLDER], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...environment },
    });
    this.#holders.add(holder);
    holder.stdin.on("error", () => {});
    try {
      return { address: await addressFrom(holder), environment };
    } catch (error) {
      holder.kill("SIGKILL");
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#holders].map(end));
  }
}

/**
 * A token of this run, so that other users of the machine cannot use its cluster. A token that the user set is kept.
 */
function authentication(): Record<string, string> {
  const { RAY_AUTH_MODE, RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH } = process.env;
  if (RAY_AUTH_MODE || RAY_AUTH_TOKEN || RAY_AUTH_TOKEN_PATH) return {};
  return { RAY_AUTH_MODE: "token", RAY_AUTH_TOKEN: randomBytes(32).toString("hex") };
}

function addressFrom(holder: ChildProcessByStdio<Writable, Readable, Readable>): Promise<string> {
  return new Promise((resolve, reject) => {
    const lastLines: string[] = [];
    const fail = (how: string) => {
      clearTimeout(timer);
      const detail = lastLines.length > 0 ? `: ${lastLines.join(" ")}` : "";
      reject(new GymError("SERVER_START", `Ray ${how}${detail}`));
    };
    const timer = setTimeout(() => fail(`did not start within ${START_LIMIT_MS / 1000} s`), START_LIMIT_MS);
    const output = new LineSplitter((line) => {
      const [, address] = /^address (\S+)$/.exec(line) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
    const errors = new LineSplitter((line) => {
      lastLines.push(line);
      if (lastLines.length > KEPT_LINES) lastLines.shift();
    });
    holder.stdout.setEncoding("utf8").on("data", (chunk: string) => output.add(chunk));
    holder.stderr.setEncoding("utf8").on("data", (chunk: string) => errors.add(chunk));
    holder.once("error", (error) => fail(`cannot be started: ${error.message}`));
    holder.once("close", (code, signal) => fail(exitText(code, signal)));
  });
}

async function end(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null || holder.pid === undefined) return;
  const timer = setTimeout(() => holder.kill("SIGKILL"), STOP_GRACE_MS);
  holder.stdin?.end();
  await once(holder, "exit");
  clearTimeout(timer);
}
