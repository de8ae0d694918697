import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type Tinypool from "tinypool";
import { Semaphore } from "../base/transport/light-door.ts";
import type { CheckTask } from "./check-worker.ts";
import { type AnswerVerdict, type Mode, UNDECIDED, verifyAnswer } from "./verify-answer.ts";

/** A pair with more steps (about 5 ms) or more time is compared in a thread. */
export const INLINE_LIMITS = { steps: 4000, timeoutMs: 15 } as const;
/** Longer texts are searched in a thread. */
const INLINE_CHARS = 50_000;
const IDLE_MS = 30_000;
const MAX_MEMORY_MB = 100;
const DEFAULT_TIMEOUT_MS = 1000;

export interface AnswerCheckerOptions {
  readonly mode?: Mode;
  /** Milliseconds for one pair, without the wait for a free thread. */
  readonly timeoutMs?: number;
  readonly maxThreads?: number;
}

/**
 * Compares answers without blocking the event loop. Easy pairs are compared at once, others in threads, which are stopped if a
 * pair takes too long. Create one per server.
 */
export class AnswerChecker {
  readonly #options: AnswerCheckerOptions;
  readonly #threads: Semaphore;
  #pool: Promise<Tinypool> | undefined;

  constructor(options: AnswerCheckerOptions = {}) {
    this.#options = options;
    this.#threads = new Semaphore(options.maxThreads ?? Math.max(1, availableParallelism() - 1));
  }

  /** Like `verifyAnswer`. A pair that takes too long is `undecided`. Throws only if `signal` is aborted. */
  async check(gold: string, text: string, signal?: AbortSignal): Promise<AnswerVerdict> {
    signal?.throwIfAborted();
    const { mode = "compat" } = this.#options;
    if (text.length + gold.length <= INLINE_CHARS) {
      const verdict = verifyAnswer(gold, text, { mode, ...INLINE_LIMITS });
      if (!verdict.exhausted) return verdict;
    }
    return this.#threads.run(() => this.#checkInThread({ gold, text, options: { mode } }, signal), signal);
  }

  async #checkInThread(task: CheckTask, signal: AbortSignal | undefined): Promise<AnswerVerdict> {
    this.#pool ??= startPool(this.#threads.limit ?? 1);
    const pool = await this.#pool;
    const timeout = AbortSignal.timeout(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    try {
      return (await pool.run(task, {
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })) as AnswerVerdict;
    } catch (error) {
      signal?.throwIfAborted();
      return { ...UNDECIDED, problem: error instanceof Error ? error.message : String(error) };
    }
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy();
  }
}

async function startPool(maxThreads: number): Promise<Tinypool> {
  const { default: Pool } = await import("tinypool");
  const suffix = extname(fileURLToPath(import.meta.url));
  return new Pool({
    filename: new URL(`./check-worker${suffix}`, import.meta.url).href,
    runtime: "worker_threads",
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    ...(suffix === ".ts" && { execArgv: ["--import", "jiti/register"] }),
  });
}
