import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { redactor } from "../../base/secrets.ts";
import { nextDelay, Semaphore, sleep } from "../../base/transport/light-door.ts";
import {
  SandboxConfigError,
  SandboxCreateError,
  SandboxOperationError,
  SandboxSpecError,
  SandboxTransferError,
} from "../errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "../exec-results.ts";
import type {
  Cancellable,
  ExecOptions,
  SandboxDescriptor,
  SandboxEndpoint,
  SandboxExecResult,
  SandboxHandle,
  SandboxProvider,
  SandboxStatus,
} from "../provider.ts";
import { execSettings, readSettings, seconds } from "../provider-settings.ts";
import type { SandboxSpec } from "../spec.ts";
import type { ModalClient, ModalSandbox, ModalSdk } from "./modal-sdk.ts";
import { retryBudget } from "./service-provider.ts";

/** Settings of `sandbox: {modal: …}`. */
const modalSettings = z.strictObject({
  connection: z
    .strictObject({
      /** Default: `MODAL_TOKEN_ID` and `MODAL_TOKEN_SECRET`, else the profile in `~/.modal.toml`. */
      token_id: z.string().nullish(),
      token_secret: z.string().nullish(),
      environment: z.string().nullish(),
      request_timeout_s: seconds.nullish(),
    })
    .prefault({}),
  create: z
    .strictObject({
      /** The app of the sandboxes; created if it does not exist. */
      app: z.string().default("nemo-gym"),
      /** For specs without an image. */
      image: z.string().nullish(),
      timeout_s: seconds.default(3600),
      /** No network unless this is false. */
      block_network: z.boolean().default(true),
      cloud: z.string().nullish(),
      regions: z.array(z.string()).nullish(),
    })
    .prefault({}),
  exec: z.strictObject(execSettings).prefault({}),
  operations: z
    .strictObject({
      retries: z.number().int().nonnegative().default(2),
      retry_delay_s: z.number().nonnegative().default(0.5),
      retry_max_delay_s: z.number().nonnegative().default(8),
    })
    .prefault({}),
});

type Handle = SandboxHandle<ModalSandbox>;

/** Sandboxes of Modal, through the npm package `modal` of the user's project. */
export class ModalProvider implements SandboxProvider<ModalSandbox> {
  readonly name = "modal";
  readonly #settings: z.output<typeof modalSettings>;
  readonly #client: ModalClient;
  readonly #running: Semaphore;
  readonly #redact: (text: string) => string;
  #app: Promise<unknown> | undefined;

  constructor(settings: unknown, sdk: ModalSdk) {
    this.#settings = readSettings("modal", modalSettings, settings);
    const { token_id, token_secret, environment, request_timeout_s } = this.#settings.connection;
    this.#running = new Semaphore(this.#settings.exec.concurrency);
    this.#redact = redactor([token_id ?? undefined, token_secret ?? undefined]);
    try {
      this.#client = new sdk.ModalClient(
        given({
          tokenId: token_id,
          tokenSecret: token_secret,
          environment,
          timeoutMs: milliseconds(request_timeout_s),
        }),
      );
    } catch (error) {
      throw new SandboxConfigError(
        `The sandbox provider 'modal' needs connection.token_id and token_secret, or MODAL_TOKEN_ID and MODAL_TOKEN_SECRET: ${this.#reason(error)}`,
      );
    }
  }

  get isOffline(): boolean {
    return this.#settings.create.block_network;
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const { create } = this.#settings;
    const { cpu, memory_mib, disk_gib, gpu, gpu_type = "any" } = spec.resources;
    const image = spec.image ?? create.image;
    if (image == null)
      throw new SandboxSpecError("Sandboxes of 'modal' need an image, in the spec or in create.image.");
    if (disk_gib !== undefined) throw new SandboxSpecError("Sandboxes of 'modal' have no limit of disk.");
    if (spec.ports.length > 0 && create.block_network)
      throw new SandboxSpecError("Ports of 'modal' sandboxes need a network: create.block_network: false.");
    const options = given({
      command: spec.entrypoint,
      workdir: spec.workdir,
      env: spec.env,
      tags: spec.metadata,
      timeoutMs: (spec.ttl_s ?? create.timeout_s) * 1000,
      blockNetwork: create.block_network,
      encryptedPorts: spec.ports,
      cpu,
      cpuLimit: cpu,
      memoryMiB: memory_mib,
      memoryLimitMiB: memory_mib,
      gpu: gpu ? `${gpu_type}:${gpu}` : undefined,
      cloud: create.cloud,
      regions: create.regions,
    });
    let raw: ModalSandbox;
    try {
      this.#app ??= this.#client.apps.fromName(create.app, { createIfMissing: true });
      const app = await this.#app;
      signal?.throwIfAborted();
      raw = await this.#client.sandboxes.create(app, this.#client.images.fromRegistry(image), options);
    } catch (error) {
      this.#app = undefined;
      signal?.throwIfAborted();
      throw new SandboxCreateError(`Modal created no sandbox: ${this.#reason(error)}`, { cause: error });
    }
    const handle = this.#handleOf(raw);
    if (!signal?.aborted) return handle;
    await this.close(handle);
    throw signal.reason;
  }

  async exec({ raw }: Handle, command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    if (options.stdin !== undefined)
      throw new SandboxSpecError(
        "Commands of 'modal' do not accept standard input; upload a file and read it.",
      );
    if (options.user !== undefined && options.user !== 0 && options.user !== "root")
      throw new SandboxSpecError("Commands of 'modal' run as the user of the image.");
    const limit = options.timeoutSeconds ?? this.#settings.exec.default_timeout_s;
    return this.#running.run(() => this.#run(raw, command, limit, options), options.signal);
  }

  async uploadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    await this.#transfer(target, options, async () => {
      if (!(await stat(source)).isFile()) throw new Error(`'${source}' is not a regular file`);
      await raw.filesystem.copyFromLocal(source, target);
    });
  }

  async writeFile(
    { raw }: Handle,
    target: string,
    content: string | Uint8Array,
    options?: Cancellable,
  ): Promise<void> {
    const data = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await this.#transfer(target, options, () => raw.filesystem.writeBytes(data, target));
  }

  async downloadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    await mkdir(path.dirname(path.resolve(target)), { recursive: true });
    await this.#transfer(source, options, () => raw.filesystem.copyToLocal(source, target));
  }

  async status({ raw }: Handle, { signal }: Cancellable = {}): Promise<SandboxStatus> {
    try {
      return (await raw.poll()) === null ? "running" : "stopped";
    } catch (error) {
      signal?.throwIfAborted();
      return isGone(error) ? "stopped" : "unknown";
    }
  }

  async endpoint({ raw }: Handle, port: number): Promise<SandboxEndpoint> {
    try {
      const tunnel = (await raw.tunnels())[port];
      if (tunnel) return { endpoint: tunnel.url, headers: {} };
    } catch (error) {
      throw new SandboxOperationError(`Modal sandbox '${raw.sandboxId}': ${this.#reason(error)}`, {
        cause: error,
      });
    }
    throw new SandboxOperationError(`Modal sandbox '${raw.sandboxId}' has no tunnel to port ${port}.`);
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    return { provider: this.name, sandbox_id: raw.sandboxId };
  }

  async connect({ sandbox_id }: SandboxDescriptor, { signal }: Cancellable = {}): Promise<Handle> {
    try {
      return this.#handleOf(await this.#client.sandboxes.fromId(sandbox_id));
    } catch (error) {
      signal?.throwIfAborted();
      throw new SandboxOperationError(`Modal sandbox '${sandbox_id}': ${this.#reason(error)}`, {
        cause: error,
      });
    }
  }

  async close({ raw }: Handle): Promise<void> {
    const budget = retryBudget(this.#settings.operations);
    const started = performance.now();
    for (let attempt = 1; ; attempt++)
      try {
        await raw.terminate();
        return;
      } catch (error) {
        if (isGone(error)) return;
        const delay = nextDelay(budget, { attempt, elapsedMs: performance.now() - started });
        const message = `Modal sandbox '${raw.sandboxId}' was not ended: ${this.#reason(error)}`;
        if (delay === undefined) throw new SandboxOperationError(message, { cause: error });
        await sleep(delay);
      }
  }

  async aclose(): Promise<void> {
    this.#client.close();
  }

  /** A command that the caller no longer waits for ends at its time limit: the service cannot end one alone. */
  async #run(
    raw: ModalSandbox,
    command: string,
    limitSeconds: number | null,
    { cwd, env, signal }: ExecOptions,
  ): Promise<SandboxExecResult> {
    const { max_output_bytes: limit } = this.#settings.exec;
    const [stdout, stderr] = [new KeptText(limit), new KeptText(limit)];
    const output = () => ({
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: stdout.isCut || stderr.isCut,
    });
    const stop = new AbortController();
    const waiting = race(limitSeconds, signal);
    try {
      const timeoutMs = milliseconds(limitSeconds);
      const running = raw.exec(
        ["sh", "-c", command],
        given({ workdir: cwd, env: env && { ...env }, timeoutMs }),
      );
      const ended = running.then(async (process) => {
        const streams = [stdout.fill(process.stdout, stop.signal), stderr.fill(process.stderr, stop.signal)];
        const [code] = await Promise.all([process.wait(), ...streams]);
        return code;
      });
      // It may fail after the race.
      ended.catch(() => {});
      const code = await Promise.race([ended, waiting.over]);
      if (code === "late") return timeoutResult(output(), limitSeconds);
      return commandResult({ ...output(), code });
    } catch (error) {
      signal?.throwIfAborted();
      const { stderr: written, ...rest } = output();
      return sandboxFailure({ ...rest, stderr: `${written}${this.#reason(error)}` });
    } finally {
      waiting.end();
      stop.abort();
    }
  }

  async #transfer(
    file: string,
    options: Cancellable | undefined,
    copy: () => Promise<unknown>,
  ): Promise<void> {
    options?.signal?.throwIfAborted();
    try {
      await copy();
    } catch (error) {
      options?.signal?.throwIfAborted();
      throw new SandboxTransferError(`'${file}' was not copied: ${this.#reason(error)}`, { cause: error });
    }
  }

  #handleOf(raw: ModalSandbox): Handle {
    return { sandboxId: raw.sandboxId, providerName: this.name, raw };
  }

  #reason(error: unknown): string {
    return this.#redact(errorMessage(error));
  }
}

/** The first characters of a stream. The rest is read and discarded, so that the command can go on. */
class KeptText {
  readonly #limit: number;
  text = "";
  isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async fill(stream: ReadableStream<string>, signal: AbortSignal): Promise<void> {
    const reader = stream.getReader();
    signal.addEventListener("abort", () => void reader.cancel().catch(() => {}));
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (this.text.length + value.length > this.#limit) this.isCut = true;
      if (this.text.length < this.#limit) this.text += value.slice(0, this.#limit - this.text.length);
    }
  }
}

/** `over` resolves at the time limit, and rejects when the caller stops. */
function race(limitSeconds: number | null, signal: AbortSignal | undefined) {
  let end = () => {};
  const over = new Promise<"late">((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    const timer = limitSeconds === null ? undefined : setTimeout(resolve, limitSeconds * 1000, "late");
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
  });
  // The command may end first.
  over.catch(() => {});
  return { over, end };
}

/** The SDK names its errors. Its classes are those of another copy of the package when a server has its own. */
function isGone(error: unknown): boolean {
  return error instanceof Error && error.name === "NotFoundError";
}

function milliseconds(limitSeconds: number | null | undefined): number | undefined {
  return limitSeconds == null ? undefined : limitSeconds * 1000;
}

/** The options that have a value. */
function given<T extends object>(options: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  const entries = Object.entries(options).filter(([, value]) => value != null);
  return Object.fromEntries(entries) as { [Key in keyof T]: NonNullable<T[Key]> };
}
