import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type Tinypool from "tinypool";
import type { JsonObject } from "../../base/python/json/door.ts";
import type { HostedCode } from "./guards/hosted-code.ts";

const IDLE_MS = 30_000;
const MAX_QUEUE = 10_000;

export interface VerifyTask {
  code: HostedCode;
  entry: string;
  installRoot: string;
  config: Record<string, unknown>;
  args: JsonObject;
}

/** Worker threads for CPU-bound verifiers. They start on first use and end when idle. */
export class VerifyPool {
  #pool: Promise<Tinypool> | undefined;

  /** When the caller aborts, its thread is terminated, because nothing else stops synchronous code. */
  async verify(task: VerifyTask, signal: AbortSignal): Promise<JsonObject> {
    this.#pool ??= startPool();
    const pool = await this.#pool;
    const result = (await pool.run(task, { signal })) as { result: JsonObject } | { error: JsonObject };
    if ("result" in result) return result.result;
    // Errors lose their class between threads; their code and message are kept.
    throw Object.assign(new Error(String(result.error["message"])), result.error);
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy();
  }
}

async function startPool(): Promise<Tinypool> {
  const { default: Pool } = await import("tinypool");
  const suffix = extname(fileURLToPath(import.meta.url));
  return new Pool({
    filename: new URL(`./verify-worker${suffix}`, import.meta.url).href,
    runtime: "worker_threads",
    minThreads: 0,
    maxThreads: Math.max(1, availableParallelism() - 1),
    idleTimeout: IDLE_MS,
    maxQueue: MAX_QUEUE,
    ...(suffix === ".ts" && { execArgv: ["--import", "jiti/register"] }),
  });
}
