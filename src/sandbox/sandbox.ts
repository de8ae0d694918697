import { channel } from "node:diagnostics_channel";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { withTemporaryDirectory } from "../base/files/door.ts";
import { attribution } from "./attribution.ts";
import { SandboxSpecError, SandboxStateError, SandboxUnsupportedError } from "./errors.ts";
import {
  type Cancellable,
  DEFAULT_EXEC_TIMEOUT_SECONDS,
  type ExecOptions,
  type PtySession,
  type PtySpec,
  type SandboxDescriptor,
  type SandboxEndpoint,
  type SandboxExecResult,
  type SandboxHandle,
  type SandboxProcess,
  type SandboxProvider,
  type SandboxStatus,
} from "./provider.ts";
import { checkEnvironment, rejectZeroByte } from "./safe-text.ts";
import { parseSandboxSpec, type SandboxSpec, type SandboxSpecInput } from "./spec.ts";
import { tracedExec, tracedStart, tracedStop } from "./trace-sandbox.ts";

/** A finished command, as published on the diagnostics channel `nemo-gym:sandbox-command`. */
export interface SandboxCommand {
  /** Provider and id. */
  sandbox: string;
  program: string;
  /** `exit 0`, or the reason why there is no exit code. */
  ending: string;
  seconds: number;
}

const commands = channel("nemo-gym:sandbox-command");

export interface SandboxOptions {
  /** Metadata of every sandbox; the spec takes precedence. */
  defaultMetadata?: Readonly<Record<string, string>>;
  /** The owner of the sandbox; all other metadata takes precedence. */
  attribution?: Readonly<Record<string, string>>;
  /** False for a shared provider: `stop` does not close it. */
  ownsProvider?: boolean;
}

/**
 * One sandbox of any provider.
 *
 * @example
 * const sandbox = new Sandbox(provider, { workdir: "/work", files: { "/work/a.py": "print(6 * 7)" } });
 * await sandbox.start();
 * try {
 *   const { stdout, return_code } = await sandbox.exec("python3 a.py", { timeoutSeconds: 10 });
 * } finally {
 *   await sandbox.stop();
 * }
 */
export class Sandbox {
  readonly #provider: SandboxProvider;
  readonly #options: SandboxOptions;
  #spec: SandboxSpec | undefined;
  #handle: SandboxHandle | undefined;
  #state: "new" | "starting" | "started" | "stopped" = "new";
  #stopping: Promise<void> | undefined;
  /** Reports the end of the sandbox. */
  #ended: () => void = () => {};

  constructor(provider: SandboxProvider, spec?: SandboxSpecInput, options: SandboxOptions = {}) {
    this.#provider = provider;
    this.#options = options;
    this.#spec = spec === undefined ? undefined : parseSandboxSpec(spec);
  }

  /** Connects to a sandbox that another process serialized, with its workdir and ports. */
  static async connect(
    provider: SandboxProvider,
    descriptor: SandboxDescriptor,
    options: SandboxOptions & Cancellable = {},
  ): Promise<Sandbox> {
    if (provider.connect === undefined) throw unsupported(provider, "be connected to from another process");
    const { spec, ...own } = descriptor as SandboxDescriptor & { spec?: SandboxSpecInput };
    const sandbox = new Sandbox(provider, spec ?? {}, options);
    sandbox.#handle = await provider.connect(own as SandboxDescriptor, { signal: options.signal });
    sandbox.#state = "started";
    return sandbox;
  }

  /** The id that the provider assigned; undefined before the start. */
  get id(): string | undefined {
    return this.#handle?.sandboxId;
  }

  get providerName(): string {
    return this.#provider.name;
  }

  /** Whether the provider is known to give it no network. */
  get isOffline(): boolean {
    return this.#provider.isOffline ?? false;
  }

  /** Creates the sandbox and writes the files of its spec. If that fails, nothing is left behind. */
  async start(spec?: SandboxSpecInput, options: Cancellable = {}): Promise<this> {
    if (this.#state === "stopped") throw new SandboxStateError("The sandbox was stopped; create a new one.");
    if (this.#state !== "new") throw new SandboxStateError("The sandbox is already started.");
    const wanted = this.#withMetadata(spec === undefined ? this.#spec : parseSandboxSpec(spec));
    this.#state = "starting";
    try {
      const { handle, ended } = await tracedStart(this.#provider, () =>
        this.#provider.create(wanted, options),
      );
      this.#handle = handle;
      this.#ended = ended;
      await this.#writeFiles(handle, wanted.files, options);
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#spec = wanted;
    this.#state = "started";
    return this;
  }

  /** Runs a shell command. The default directory is the workdir of the spec, the default time limit is 180 seconds. */
  async exec(command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    const handle = this.#started();
    checkOptions(options);
    // Commands often come from a model, so an unusable one is a failure of the command.
    if (command.includes("\0")) return unusable("The command has a zero byte, which no program can receive.");
    const running = tracedExec(this.#provider, handle, () =>
      this.#provider.exec(handle, command, {
        ...options,
        cwd: options.cwd ?? this.#spec?.workdir,
        timeoutSeconds:
          options.timeoutSeconds === undefined ? DEFAULT_EXEC_TIMEOUT_SECONDS : options.timeoutSeconds,
      }),
    );
    return commands.hasSubscribers ? this.#reported(handle, command, running) : running;
  }

  /** Publishes the end of a command: the program without its arguments, which may contain secrets. */
  async #reported(
    { sandboxId }: SandboxHandle,
    command: string,
    running: Promise<SandboxExecResult>,
  ): Promise<SandboxExecResult> {
    const started = performance.now();
    const about = { sandbox: `${this.#provider.name} ${sandboxId}`, program: programOf(command) };
    const publish = (ending: string) =>
      commands.publish({
        ...about,
        ending,
        seconds: (performance.now() - started) / 1000,
      } satisfies SandboxCommand);
    try {
      const result = await running;
      publish(result.error_type ?? `exit ${result.return_code}`);
      return result;
    } catch (error) {
      publish("error");
      throw error;
    }
  }

  /** Starts a shell command with live input and output. */
  async startProcess(command: string): Promise<SandboxProcess> {
    const handle = this.#started();
    rejectZeroByte(command, "The command");
    if (this.#provider.startProcess === undefined)
      throw unsupported(this.#provider, "keep a process running with live input and output");
    return this.#provider.startProcess(handle, command);
  }

  async upload(localPath: string, remotePath: string, options: Cancellable = {}): Promise<void> {
    rejectZeroByte(remotePath, "The name of a file");
    await this.#provider.uploadFile(this.#started(), localPath, remotePath, options);
  }

  async download(remotePath: string, localPath: string, options: Cancellable = {}): Promise<void> {
    rejectZeroByte(remotePath, "The name of a file");
    await this.#provider.downloadFile(this.#started(), remotePath, localPath, options);
  }

  /** Writes text into the sandbox. */
  async writeText(remotePath: string, text: string, options: Cancellable = {}): Promise<void> {
    await this.#writeFiles(this.#started(), { [remotePath]: text }, options);
  }

  /** The address of a port that the spec declares. */
  async endpoint(port: number, options: Cancellable = {}): Promise<SandboxEndpoint> {
    const handle = this.#started();
    const declared = this.#spec?.ports ?? [];
    if (!declared.includes(port))
      throw new SandboxUnsupportedError(
        `Port ${port} is not among the ports of the sandbox spec (${declared.join(", ") || "none"}); declare it there.`,
      );
    if (this.#provider.endpoint === undefined) throw unsupported(this.#provider, "expose ports");
    return this.#provider.endpoint(handle, port, options);
  }

  /** Opens a terminal. */
  async createPty(spec: PtySpec = {}, options: Cancellable = {}): Promise<PtySession> {
    const handle = this.#started();
    if (this.#provider.createPty === undefined) throw unsupported(this.#provider, "open terminals");
    return this.#provider.createPty(handle, { ...spec, cwd: spec.cwd ?? this.#spec?.workdir }, options);
  }

  /** The data for `Sandbox.connect` in another process; plain JSON. A stop by either process ends the sandbox for both. */
  serialize(): SandboxDescriptor {
    const handle = this.#started();
    if (this.#provider.serialize === undefined)
      throw unsupported(this.#provider, "be handed to another process");
    const { workdir, ports } = this.#spec ?? {};
    return { ...this.#provider.serialize(handle), spec: { workdir, ports } };
  }

  /** `unknown` before the start, `stopped` after the stop. */
  async status(options: Cancellable = {}): Promise<SandboxStatus> {
    if (this.#state === "stopped") return "stopped";
    if (this.#state === "starting") return "starting";
    if (this.#handle === undefined) return "unknown";
    return this.#provider.status(this.#handle, options);
  }

  /** Ends the sandbox; further calls have no effect. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #end(): Promise<void> {
    this.#state = "stopped";
    try {
      const handle = this.#handle;
      if (handle !== undefined) await tracedStop(this.#provider, handle, () => this.#provider.close(handle));
    } finally {
      this.#ended();
      if (this.#options.ownsProvider !== false) await this.#provider.aclose();
    }
  }

  #started(): SandboxHandle {
    if (this.#state === "stopped") throw new SandboxStateError("The sandbox was stopped.");
    if (this.#handle === undefined || this.#state !== "started")
      throw new SandboxStateError("The sandbox has not been started; call start() first.");
    return this.#handle;
  }

  #withMetadata(spec: SandboxSpec | undefined): SandboxSpec {
    if (spec === undefined) throw new SandboxStateError("start() needs a sandbox spec.");
    const { defaultMetadata, attribution: whose = attribution() } = this.#options;
    return { ...spec, metadata: { ...whose, ...defaultMetadata, ...spec.metadata } };
  }

  async #writeFiles(
    handle: SandboxHandle,
    files: Readonly<Record<string, string>>,
    options: Cancellable,
  ): Promise<void> {
    const entries = Object.entries(files);
    if (entries.length === 0) return;
    for (const [target] of entries) rejectZeroByte(target, "The name of a file");
    if (this.#provider.writeFile !== undefined) {
      for (const [target, text] of entries) await this.#provider.writeFile(handle, target, text, options);
      return;
    }
    await withTemporaryDirectory("nemo-gym-upload-", async (directory) => {
      for (const [index, [target, text]] of entries.entries()) {
        const source = path.join(directory, String(index));
        await writeFile(source, text);
        await this.#provider.uploadFile(handle, source, target, options);
      }
    });
  }
}

/** 126 is the exit code of shells for a command that cannot be run. */
function unusable(reason: string): SandboxExecResult {
  return { stdout: "", stderr: reason, return_code: 126, error_type: null };
}

/** Checks the texts that providers pass to other programs unchanged. */
function checkOptions({ cwd, env, user, timeoutSeconds }: ExecOptions): void {
  if (cwd !== undefined) rejectZeroByte(cwd, "The directory 'cwd'");
  if (user !== undefined) rejectZeroByte(String(user), "The user");
  checkEnvironment(env ?? {});
  if (timeoutSeconds != null && !(timeoutSeconds > 0 && Number.isFinite(timeoutSeconds)))
    throw new SandboxSpecError(
      `'timeoutSeconds' must be a positive number of seconds, not ${timeoutSeconds}; null means the provider's default.`,
    );
}

function unsupported({ name }: SandboxProvider, ability: string): SandboxUnsupportedError {
  return new SandboxUnsupportedError(`Sandboxes of '${name}' cannot ${ability}.`);
}

/** The first word of a command that is not a variable assignment. */
function programOf(command: string): string {
  return /^\s*(?:\w+=\S*\s+)*([\w./+-]{1,80})/.exec(command)?.[1] ?? "(command)";
}
