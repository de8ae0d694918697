import { availableParallelism } from "node:os";
import { z } from "zod";
import { type Logger, shellQuote } from "../../base/door.ts";
import { Semaphore } from "../../base/transport/light-door.ts";
import { openSandbox, type SandboxServer, sandboxConfig } from "../open-sandbox.ts";
import type { SandboxExecResult } from "../provider.ts";
import { UnconfinedProvider } from "../providers/unconfined.ts";
import { Sandbox } from "../sandbox.ts";
import type { SandboxSpecInput } from "../spec.ts";
import { sandboxUnavailable } from "./errors.ts";
import { Interpreter, InterpreterSession } from "./interpreter.ts";
import { WarmPool } from "./warm-pool.ts";

/**
 * Fields for the config schema of a server that runs code.
 *
 * @example
 * config: z.object({ ...codeRunnerConfig, unit_test_timeout_secs: z.number().default(10) })
 */
export const codeRunnerConfig = {
  ...sandboxConfig,
  /** `none` runs code as it is on this machine, with all rights of the user. Nothing else does. */
  sandbox: z.literal("none").nullish(),
  /** Programs that run at a time; null: one per core, shared by all servers of the process. */
  max_parallel: z.number().int().positive().nullable().default(null),
  /** Interpreters started ahead; default: as many as run at a time. */
  warm: z.number().int().nonnegative().nullish(),
  /** Stateful sessions that may be open at a time. */
  max_sessions: z.number().int().positive().default(256),
  /** The Python inside the sandbox, by name or absolute path: one with the libraries that programs may use. */
  python: z.string().min(1).default("python3"),
  /** For each program; needs a provider that can limit it. */
  memory_mib: z.number().int().positive().default(1024),
};
const schema = z.object(codeRunnerConfig);
export type CodeRunnerConfig = z.output<typeof schema>;

/** A runner for a server, by the fields of `codeRunnerConfig` in its config. The caller must close it. */
export function createCodeRunner(server: SandboxServer & { log: Logger }): CodeRunner {
  const config = schema.parse(server.config ?? {});
  if (config.sandbox === "none")
    server.log.warn(
      `${server.name} runs code without a sandbox (sandbox: none): the code has all your permissions.`,
    );
  return new CodeRunner(server, config);
}

/** Shared by all servers of this process: with more programs than cores, programs would exceed their time limits. */
const cores = new Semaphore(availableParallelism());

export interface RunOptions {
  /** Waiting runs take turns by key, so that one caller with many runs does not delay the others. */
  key?: string;
  signal?: AbortSignal;
}

export interface Program {
  language: "python" | "javascript";
  code: string;
  stdin?: string;
  timeoutSeconds: number;
}

const LANGUAGES = {
  python: { file: "main.py", command: (python: string) => `exec ${shellQuote(python)} -I -B main.py` },
  javascript: { file: "main.js", command: () => "exec node main.js" },
} as const;

/**
 * Runs untrusted code. Each program gets its own sandbox. The default concurrency is the number of cores.
 *
 * @example
 * const runner = createCodeRunner(server);
 * const { stdout } = await runner.run({ language: "python", code, timeoutSeconds: 5 }, { signal });
 */
export class CodeRunner {
  readonly #server: SandboxServer;
  readonly #config: CodeRunnerConfig;
  readonly #slots: Semaphore;
  readonly #pools = new Map<string, WarmPool<Interpreter>>();
  readonly #sessions = new Set<InterpreterSession>();

  constructor(server: SandboxServer, config: CodeRunnerConfig) {
    this.#server = server;
    this.#config = config;
    this.#slots = config.max_parallel === null ? cores : new Semaphore(config.max_parallel);
  }

  /** Runs a whole program. A program that fails is a result; a sandbox that fails is `sandbox_unavailable`. */
  async run(
    { language, code, stdin, timeoutSeconds }: Program,
    options: RunOptions = {},
  ): Promise<SandboxExecResult> {
    const { file, command } = LANGUAGES[language];
    const { signal, key } = options;
    const run = async () => {
      const sandbox = await this.#open({ files: { [file]: code } });
      try {
        const result = await sandbox.exec(command(this.#config.python), { stdin, timeoutSeconds, signal });
        if (result.error_type === "sandbox") throw sandboxUnavailable(new Error(result.stderr ?? ""));
        return result;
      } finally {
        await sandbox.stop();
      }
    };
    return this.#slots.run(run, signal, key);
  }

  /** Calls `use` with a new interpreter of a Python program with the protocol of harness.py. */
  async withInterpreter<T>(
    source: string,
    options: RunOptions,
    use: (interpreter: Interpreter) => Promise<T>,
  ): Promise<T> {
    return this.withInterpreters([source], options, ([interpreter]) => use(interpreter));
  }

  /** The same with several programs, each in its own sandbox. They share one slot, so only one should work at a time. */
  async withInterpreters<const Sources extends readonly string[], T>(
    sources: Sources,
    options: RunOptions,
    use: (interpreters: { [Each in keyof Sources]: Interpreter }) => Promise<T>,
  ): Promise<T> {
    const run = async () => {
      const starts = await Promise.allSettled(sources.map((source) => this.#pool(source).take()));
      const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
      try {
        for (const start of starts) if (start.status === "rejected") throw start.reason;
        return await use(started as { [Each in keyof Sources]: Interpreter });
      } finally {
        await Promise.all(started.map((interpreter) => interpreter.stop()));
      }
    };
    return this.#slots.run(run, options.signal, options.key);
  }

  /** Opens an interpreter that keeps its state between calls, for one rollout. It takes a slot only during calls. */
  async openSession(source: string, options: RunOptions = {}): Promise<InterpreterSession> {
    const { max_sessions } = this.#config;
    if (this.#sessions.size >= max_sessions)
      throw sandboxUnavailable(new Error(`${max_sessions} sessions are open already (max_sessions)`));
    const session: InterpreterSession = new InterpreterSession({
      start: () => this.#pool(source).take(),
      slots: this.#slots,
      key: options.key ?? "",
      onClosed: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  /** Ends all sessions and all interpreters that were started ahead. */
  async close(): Promise<void> {
    await Promise.all([
      ...[...this.#sessions].map((session) => session.close()),
      ...[...this.#pools.values()].map((pool) => pool.close()),
    ]);
  }

  #pool(source: string): WarmPool<Interpreter> {
    let pool = this.#pools.get(source);
    if (pool === undefined) {
      const { warm, max_parallel } = this.#config;
      const size = warm ?? max_parallel ?? availableParallelism();
      pool = new WarmPool(() => this.#startInterpreter(source), size);
      this.#pools.set(source, pool);
    }
    return pool;
  }

  async #startInterpreter(source: string): Promise<Interpreter> {
    const sandbox = await this.#open({});
    try {
      return await Interpreter.start(sandbox, source, this.#config.python);
    } catch (error) {
      await sandbox.stop();
      throw sandboxUnavailable(error);
    }
  }

  async #open(spec: SandboxSpecInput): Promise<Sandbox> {
    try {
      if (this.#config.sandbox === "none") return await new Sandbox(new UnconfinedProvider(), spec).start();
      return await openSandbox(this.#server, { resources: { memory_mib: this.#config.memory_mib }, ...spec });
    } catch (error) {
      throw sandboxUnavailable(error);
    }
  }
}
