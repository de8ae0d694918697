import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { shellQuote } from "../../base/door.ts";
import { Semaphore } from "../../base/transport/light-door.ts";
import {
  SandboxCreateError,
  SandboxOperationError,
  SandboxSpecError,
  SandboxUnavailableError,
} from "../errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "../exec-results.ts";
import { liveProcess } from "../processes/live-process.ts";
import { type ProcessOutcome, runProcess } from "../processes/run-process.ts";
import type {
  Cancellable,
  ExecOptions,
  SandboxExecResult,
  SandboxHandle,
  SandboxProcess,
  SandboxProvider,
  SandboxStatus,
} from "../provider.ts";
import type { ExecSettings } from "../provider-settings.ts";
import { checkEnvironment } from "../safe-text.ts";
import { shellCommand } from "../shell-command.ts";
import type { SandboxSpec } from "../spec.ts";
import { TransferByCommand, type TransferCommand } from "../transfer.ts";

/** Limit of a downloaded file. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** The environment variable that marks all processes of one command, even detached ones. */
const MARK = "NEMO_GYM_EXEC_ID";
const CLEAN_UP_SECONDS = 15;
const CHECK_SECONDS = 10;
/** Kills every process with the mark. Two rounds, because a process may fork during the first. */
const END_MARKED = `for round in 1 2; do
  for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
    number=\${file#/proc/}
    kill -9 "\${number%/environ}"
  done
done`;

/** One command for the inside of a sandbox. */
export interface InnerCommand {
  argv: readonly string[];
  cwd?: string;
  env: Readonly<Record<string, string>>;
  user?: string | number;
  hasStdin: boolean;
}

/** The call of the container program that runs an inner command. */
export interface OuterCommand {
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
}

interface RunOptions {
  timeoutSeconds: number | null;
  env?: NodeJS.ProcessEnv;
  stdin?: string | Uint8Array | Readable;
  stdoutTo?: Writable;
  maxSinkBytes?: number;
  signal?: AbortSignal;
}

/** Base of providers that call a container program: runs and ends commands, copies files. */
export abstract class CliProvider<Raw extends { name: string }>
  extends TransferByCommand<Raw>
  implements SandboxProvider<Raw>
{
  abstract readonly name: string;
  readonly #calls: Semaphore;
  readonly #settings: ExecSettings;

  constructor(settings: ExecSettings) {
    super();
    this.#settings = settings;
    this.#calls = new Semaphore(settings.concurrency);
  }

  abstract create(spec: SandboxSpec, options?: Cancellable): Promise<SandboxHandle<Raw>>;
  abstract status(handle: SandboxHandle<Raw>, options?: Cancellable): Promise<SandboxStatus>;
  abstract close(handle: SandboxHandle<Raw>): Promise<void>;

  /** Arguments that make the program print its version, and fail if it cannot run containers. */
  protected abstract versionArguments(): readonly string[];
  /** The container program. It is looked up for each call, so that a missing program is reported when it is needed. */
  protected abstract program(): string;
  protected abstract outerCommand(raw: Raw, command: InnerCommand): OuterCommand;
  /** The shell that runs commands. */
  protected abstract shell(raw: Raw): string;
  /** Matches a stderr that may come from the program and not from the command. The status then decides. */
  protected abstract readonly failurePattern: RegExp;
  /** Matches the stderr of a call about a sandbox that does not exist. */
  protected abstract readonly missingPattern: RegExp;

  /** The environment of the program. */
  protected programEnv(): NodeJS.ProcessEnv {
    return process.env;
  }

  /** A quick check before each command that the sandbox still exists. */
  protected async isThere(_raw: Raw): Promise<boolean> {
    return true;
  }

  protected handleOf(raw: Raw): SandboxHandle<Raw> {
    return { sandboxId: raw.name, providerName: this.name, raw };
  }

  async check({ signal }: Cancellable = {}): Promise<string> {
    const args = this.versionArguments();
    const { code, stdout, stderr, timedOut } = await this.run(args, {
      timeoutSeconds: CHECK_SECONDS,
      signal,
    });
    const version = stdout.trim();
    if (code === 0 && version !== "") return version;
    const reason = timedOut ? `no answer within ${CHECK_SECONDS} s` : stderr.trim() || `exit code ${code}`;
    throw new SandboxUnavailableError(
      `'${path.basename(this.program())} ${args.join(" ")}' failed: ${reason}`,
    );
  }

  async exec(
    handle: SandboxHandle<Raw>,
    command: string,
    options: ExecOptions = {},
  ): Promise<SandboxExecResult> {
    const { argv, stdin } = shellCommand(this.shell(handle.raw), command, options.stdin);
    return this.#exec(handle, argv, { ...options, stdin });
  }

  async startProcess(handle: SandboxHandle<Raw>, command: string): Promise<SandboxProcess> {
    const argv = [this.shell(handle.raw), "-c", command];
    return liveProcess((streams, signal) =>
      this.#exec(handle, argv, { timeoutSeconds: null, signal }, streams),
    );
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

  /** Runs a step of the creation of a sandbox. `what` names the step in error messages. */
  protected async createStep(
    what: string,
    image: string,
    args: readonly string[],
    options: RunOptions,
  ): Promise<void> {
    const { code, stderr, timedOut } = await this.run(args, options);
    if (timedOut)
      throw new SandboxCreateError(`${what} took longer than ${options.timeoutSeconds} s for '${image}'.`);
    if (code !== 0)
      throw new SandboxCreateError(`${what} failed with code ${code} for '${image}': ${stderr.trim()}`);
  }

  /** Makes a call about a sandbox, with the default time limit. */
  protected ask(args: readonly string[], { signal }: Cancellable = {}): Promise<ProcessOutcome> {
    return this.run(args, { timeoutSeconds: this.#settings.default_timeout_s, signal });
  }

  /** Like `ask`, but returns the output, and throws `failure` with the message of the program if the call fails. */
  protected async askOrThrow(
    failure: string,
    args: readonly string[],
    options?: Cancellable,
  ): Promise<string> {
    const { code, stdout, stderr } = await this.ask(args, options);
    if (code !== 0) throw new SandboxOperationError(`${failure}: ${stderr.trim()}`);
    return stdout;
  }

  /** Throws if a sandbox could not be removed. A sandbox that does not exist is not an error. */
  protected checkRemoved(what: string, id: string, { code, stderr }: ProcessOutcome): void {
    if (code !== 0 && !this.missingPattern.test(stderr))
      throw new SandboxOperationError(`${what} failed for '${id}': ${stderr.trim()}`);
  }

  protected transfer(
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
    const { cwd, env, user, signal } = options;
    const mark = randomUUID();
    const timeoutSeconds = options.timeoutSeconds ?? this.#settings.default_timeout_s;
    const stdin = streams.stdin ?? options.stdin;
    checkEnvironment(env ?? {});
    if (!(await this.isThere(handle.raw)))
      return sandboxFailure({ stdout: "", stderr: `The sandbox '${handle.sandboxId}' is gone.` });
    const outer = this.outerCommand(handle.raw, {
      argv,
      cwd,
      env: { ...env, [MARK]: mark },
      user,
      hasStdin: stdin !== undefined,
    });
    let outcome: ProcessOutcome;
    try {
      outcome = await this.run(outer.args, { ...streams, env: outer.env, stdin, timeoutSeconds, signal });
    } catch (error) {
      if (signal?.aborted) await this.#endMarked(handle.raw, mark);
      throw error;
    }
    if (outcome.timedOut) {
      await this.#endMarked(handle.raw, mark);
      return timeoutResult(outcome, timeoutSeconds);
    }
    if (outcome.code !== 0 && this.failurePattern.test(outcome.stderr)) {
      const status = await this.status(handle);
      if (status !== "running") return sandboxFailure(outcome);
    }
    return commandResult(outcome);
  }

  /** Processes inside the sandbox outlive the program that started them. */
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

/** The command as a user of the container; root needs no change. */
export function asUser(user: string | number | undefined, argv: readonly string[]): readonly string[] {
  if (user === undefined || isRoot(user)) return argv;
  const name = String(user);
  if (name.startsWith("-")) throw new SandboxSpecError(`'${name}' cannot be the name of a user.`);
  return ["su", "-s", "/bin/sh", "-c", argv.map(shellQuote).join(" "), name];
}

export function isRoot(user: string | number | undefined): boolean {
  return user === "root" || user === 0;
}

/** A text or a list of texts in `provider_options`. */
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
