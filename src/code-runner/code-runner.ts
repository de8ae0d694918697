import { availableParallelism } from "node:os";
import { openSandbox, type SandboxServer } from "../sandbox/open-sandbox.ts";
import { shellQuote } from "../sandbox/plain-words.ts";
import type { SandboxExecResult } from "../sandbox/provider.ts";
import { UnconfinedProvider } from "../sandbox/providers/unconfined.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import type { SandboxSpecInput } from "../sandbox/spec.ts";
import type { CodeRunnerConfig } from "./config.ts";
import { sandboxUnavailable } from "./errors.ts";
import { FairSlots } from "./fair-slots.ts";
import { Interpreter } from "./interpreter.ts";
import { InterpreterSession } from "./interpreter-session.ts";
import { WarmPool } from "./warm-pool.ts";

/** Shared by all servers of this process: more programs than cores would only make each other exceed their time. */
const cores = new FairSlots(availableParallelism());

export interface RunOptions {
  /** Whose turn it is: runs with the same key wait for each other, not for those of others. */
  key?: string | undefined;
  signal?: AbortSignal | undefined;
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
 * Runs untrusted code, each time in a sandbox of its own, with as many at a time as there are cores.
 *
 * @example
 * const runner = createCodeRunner(server);
 * const { stdout } = await runner.run({ language: "python", code, timeoutSeconds: 5 }, { signal });
 */
export class CodeRunner {
  readonly #server: SandboxServer;
  readonly #config: CodeRunnerConfig;
  readonly #slots: FairSlots;
  readonly #pools = new Map<string, WarmPool<Interpreter>>();
  readonly #sessions = new Set<InterpreterSession>();

  constructor(server: SandboxServer, config: CodeRunnerConfig) {
    this.#server = server;
    this.#config = config;
    this.#slots = config.max_parallel === null ? cores : new FairSlots(config.max_parallel);
  }

  /** Runs a whole program. A program that fails is a result; a sandbox that fails is `sandbox_unavailable`. */
  async run(
    { language, code, stdin, timeoutSeconds }: Program,
    options: RunOptions = {},
  ): Promise<SandboxExecResult> {
    const { file, command } = LANGUAGES[language];
    return this.#slots.run(
      options.key ?? "",
      async () => {
        const sandbox = await this.#open({ files: { [file]: code } });
        try {
          const result = await sandbox.exec(command(this.#config.python), {
            stdin,
            timeoutSeconds,
            signal: options.signal,
          });
          if (result.error_type === "sandbox") throw sandboxUnavailable(new Error(result.stderr ?? ""));
          return result;
        } finally {
          await sandbox.stop();
        }
      },
      options.signal,
    );
  }

  /** Gives `use` a fresh interpreter that runs a Python program speaking the protocol of harness.py. */
  async withInterpreter<T>(
    source: string,
    options: RunOptions,
    use: (interpreter: Interpreter) => Promise<T>,
  ): Promise<T> {
    return this.#slots.run(
      options.key ?? "",
      async () => {
        const interpreter = await this.#pool(source).take();
        try {
          return await use(interpreter);
        } finally {
          await interpreter.stop();
        }
      },
      options.signal,
    );
  }

  /** An interpreter that keeps its state between calls, for one rollout. Only calls under way take a slot. */
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

  /** Ends all sessions and what was started ahead. */
  async close(): Promise<void> {
    await Promise.all([
      ...[...this.#sessions].map((session) => session.close()),
      ...[...this.#pools.values()].map((pool) => pool.close()),
    ]);
  }

  #pool(source: string): WarmPool<Interpreter> {
    let pool = this.#pools.get(source);
    if (pool === undefined) {
      pool = new WarmPool(() => this.#startInterpreter(source), this.#config.warm ?? this.#slots.limit);
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
