import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { Semaphore } from "../calls/semaphore.ts";
import { SandboxSpecError, SandboxUnavailableError } from "./errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "./exec-results.ts";
import { checkEnvironment } from "./plain-words.ts";
import { liveProcess } from "./processes/live-process.ts";
import { type ProcessOutcome, runProcess } from "./processes/run-process.ts";
import type {
  Cancellable,
  ExecOptions,
  SandboxExecResult,
  SandboxHandle,
  SandboxProcess,
  SandboxProvider,
  SandboxStatus,
} from "./provider.ts";
import type { ProbeSettings } from "./provider-settings.ts";
import { waitUntilReady } from "./readiness.ts";
import type { SandboxSpec } from "./spec.ts";
import { downloadWith, type TransferCommand, uploadWith, writeWith } from "./transfer.ts";

/** What a downloaded file may weigh. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** Marks all processes of one command, however they detach themselves. */
const MARK = "NEMO_GYM_EXEC_ID";
const CLEAN_UP_SECONDS = 15;
const CHECK_SECONDS = 10;
/** Ends every process with the mark; twice, as one may have been forking. */
const END_MARKED = `for round in 1 2; do
  for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
    number=\${file#/proc/}
    kill -9 "\${number%/environ}"
  done
done`;

/** One command for the inside of a sandbox. */
export interface InnerCommand {
  argv: readonly string[];
  cwd?: string | undefined;
  env: Readonly<Record<string, string>>;
  user?: string | number | undefined;
  hasStdin: boolean;
}

/** How to call the container program for it. */
export interface OuterCommand {
  args: readonly string[];
  env?: NodeJS.ProcessEnv | undefined;
}

interface RunOptions {
  timeoutSeconds: number | null;
  env?: NodeJS.ProcessEnv | undefined;
  stdin?: string | Uint8Array | Readable | undefined;
  stdoutTo?: Writable | undefined;
  maxSinkBytes?: number;
  signal?: AbortSignal | undefined;
}

export interface CliExecSettings {
  default_timeout_s: number | null;
  concurrency: number;
  max_output_bytes: number;
}

/** What providers that drive a container program have in common: running commands, ending them, copying files. */
export abstract class CliProvider<Raw> implements SandboxProvider<Raw> {
  abstract readonly name: string;
  readonly #calls: Semaphore;
  readonly #settings: CliExecSettings;

  constructor(settings: CliExecSettings) {
    this.#settings = settings;
    this.#calls = new Semaphore(settings.concurrency);
  }

  abstract create(spec: SandboxSpec, options?: Cancellable): Promise<SandboxHandle<Raw>>;
  abstract status(handle: SandboxHandle<Raw>, options?: Cancellable): Promise<SandboxStatus>;
  abstract close(handle: SandboxHandle<Raw>): Promise<void>;

  /** Words that make the program print its version, and fail where it cannot run containers. */
  protected abstract versionArguments(): readonly string[];
  /** The container program; asked for once per call, so that a missing program is reported when it is needed. */
  protected abstract program(): string;
  /** The variables the program runs with. */
  protected abstract programEnv(): NodeJS.ProcessEnv;
  protected abstract outerCommand(raw: Raw, command: InnerCommand): OuterCommand;
  /** The shell commands are given to. */
  protected abstract shell(raw: Raw): string;
  /** Whether stderr reads as if the program, and not the command, had failed; the status then decides. */
  protected abstract looksLikeFailure(stderr: string): boolean;

  /** A quick look, before each command, at whether the sandbox can still be meant. */
  protected async isThere(_raw: Raw): Promise<boolean> {
    return true;
  }

  async check({ signal }: Cancellable = {}): Promise<string> {
    const words = this.versionArguments();
    const { code, stdout, stderr, timedOut } = await this.run(words, {
      timeoutSeconds: CHECK_SECONDS,
      signal,
    });
    const version = stdout.trim();
    if (code === 0 && version !== "") return version;
    const reason = timedOut ? `no answer within ${CHECK_SECONDS} s` : stderr.trim() || `exit code ${code}`;
    throw new SandboxUnavailableError(
      `'${path.basename(this.program())} ${words.join(" ")}' failed: ${reason}`,
    );
  }

  async exec(
    handle: SandboxHandle<Raw>,
    command: string,
    options: ExecOptions = {},
  ): Promise<SandboxExecResult> {
    return this.#exec(handle, [this.shell(handle.raw), "-c", command], options);
  }

  async startProcess(handle: SandboxHandle<Raw>, command: string): Promise<SandboxProcess> {
    const argv = [this.shell(handle.raw), "-c", command];
    return liveProcess((streams, signal) =>
      this.#exec(handle, argv, { timeoutSeconds: null, signal }, streams),
    );
  }

  async uploadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    await uploadWith((command) => this.#transfer(handle, command, options), source, target);
  }

  async writeFile(
    handle: SandboxHandle<Raw>,
    target: string,
    content: string | Uint8Array,
    options: Cancellable = {},
  ): Promise<void> {
    await writeWith((command) => this.#transfer(handle, command, options), content, target);
  }

  async downloadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    await downloadWith((command) => this.#transfer(handle, command, options), source, target, options.signal);
  }

  async aclose(): Promise<void> {
    // Holds nothing besides its sandboxes.
  }

  /** Calls the container program. */
  protected run(args: readonly string[], options: RunOptions): Promise<ProcessOutcome> {
    const { timeoutSeconds, env, ...rest } = options;
    return this.#calls.run(
      () =>
        runProcess({
          ...rest,
          program: this.program(),
          args,
          env: { ...this.programEnv(), ...env },
          maxOutputBytes: this.#settings.max_output_bytes,
          timeoutMs: timeoutSeconds === null ? null : timeoutSeconds * 1000,
        }),
      options.signal,
    );
  }

  /** A call about a sandbox, with the usual time-out. */
  protected ask(args: readonly string[], options: Cancellable = {}): Promise<ProcessOutcome> {
    return this.run(args, { timeoutSeconds: this.#settings.default_timeout_s, signal: options.signal });
  }

  protected async waitUntilReady(
    handle: SandboxHandle<Raw>,
    probe: ProbeSettings,
    spec: SandboxSpec,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await waitUntilReady({
      sandboxId: handle.sandboxId,
      probe,
      readyTimeoutSeconds: spec.ready_timeout_s,
      signal,
      run: (command, timeoutSeconds) => this.exec(handle, command, { timeoutSeconds, signal }),
    });
  }

  #transfer(
    handle: SandboxHandle<Raw>,
    command: TransferCommand,
    { signal }: Cancellable,
  ): Promise<SandboxExecResult> {
    return this.#exec(
      handle,
      command.argv,
      { user: "root", timeoutSeconds: null, signal },
      { ...command, maxSinkBytes: MAX_FILE_BYTES },
    );
  }

  async #exec(
    handle: SandboxHandle<Raw>,
    argv: readonly string[],
    options: ExecOptions,
    streams: Pick<RunOptions, "stdin" | "stdoutTo" | "maxSinkBytes"> = {},
  ): Promise<SandboxExecResult> {
    const mark = randomUUID();
    const timeoutSeconds = options.timeoutSeconds ?? this.#settings.default_timeout_s;
    const stdin = streams.stdin ?? options.stdin;
    checkEnvironment(options.env ?? {});
    if (!(await this.isThere(handle.raw)))
      return sandboxFailure({ stdout: "", stderr: `The sandbox '${handle.sandboxId}' is gone.` });
    const outer = this.outerCommand(handle.raw, {
      argv,
      cwd: options.cwd,
      env: { ...options.env, [MARK]: mark },
      user: options.user,
      hasStdin: stdin !== undefined,
    });
    let outcome: ProcessOutcome;
    try {
      const { signal } = options;
      outcome = await this.run(outer.args, { ...streams, env: outer.env, stdin, timeoutSeconds, signal });
    } catch (error) {
      if (options.signal?.aborted) await this.#endMarked(handle.raw, mark);
      throw error;
    }
    if (outcome.timedOut) {
      await this.#endMarked(handle.raw, mark);
      return timeoutResult(outcome, timeoutSeconds);
    }
    if (outcome.code !== 0 && this.looksLikeFailure(outcome.stderr)) {
      const status = await this.status(handle);
      if (status !== "running") return sandboxFailure(outcome);
    }
    return commandResult(outcome);
  }

  /** The program's end is not the end of what it started inside. */
  async #endMarked(raw: Raw, mark: string): Promise<void> {
    const { args, env } = this.outerCommand(raw, {
      argv: ["/bin/sh", "-c", END_MARKED, "sh", `${MARK}=${mark}`],
      env: {},
      user: "root",
      hasStdin: false,
    });
    await this.run(args, { env, timeoutSeconds: CLEAN_UP_SECONDS });
  }
}

/** A text or a list of them, as `provider_options` give it. */
export function textsOption(options: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = options[name] ?? [];
  const list = typeof value === "string" ? [value] : value;
  if (Array.isArray(list) && list.every((item) => typeof item === "string")) return list;
  throw new SandboxSpecError(`provider_options.${name} must be a text or a list of texts.`);
}

export function requireImage(provider: string, { image }: SandboxSpec): string {
  if (image !== undefined) return image;
  throw new SandboxSpecError(`The provider '${provider}' needs an 'image' in the sandbox spec.`);
}
