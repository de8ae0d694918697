import { createWriteStream } from "node:fs";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
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
import type { E2bCommand, E2bRequest, E2bSandbox, E2bSdk } from "./e2b-sdk.ts";
import { retryBudget } from "./service-provider.ts";

/** The service can run a template by its name only if it is written with these characters. */
const TEMPLATE_NAME = /^[A-Za-z0-9_-]+$/;
/** The SDK keeps the whole output of a command in memory. */
const MAX_HELD_OUTPUT = 64 * 1024 * 1024;

/** Settings of `sandbox: {e2b: …}`, with the keys of the original. */
const e2bSettings = z.strictObject({
  connection: z
    .looseObject({
      /** Default: `E2B_API_KEY`. */
      api_key: z.string().nullish(),
      api_url: z.string().nullish(),
      sandbox_url: z.string().nullish(),
      domain: z.string().nullish(),
      debug: z.boolean().nullish(),
      validate_api_key: z.boolean().nullish(),
      proxy: z.string().nullish(),
      request_timeout_s: seconds.nullish(),
      headers: z.record(z.string(), z.string()).nullish(),
      api_headers: z.record(z.string(), z.string()).nullish(),
    })
    .prefault({}),
  create: z
    .looseObject({
      /** For specs without an image. */
      template: z.string().nullish(),
      /** Templates by image. */
      template_map: z.record(z.string(), z.string()).prefault({}),
      timeout_s: seconds.default(3600),
      secure: z.boolean().default(true),
      /** No network unless this is true. */
      allow_internet_access: z.boolean().default(false),
      /** Rejects specs with `resources`: a template defines its own. */
      strict_resources: z.boolean().default(false),
      auto_resume: z.boolean().nullish(),
    })
    .prefault({}),
  exec: z
    .looseObject({
      ...execSettings,
      user: z.string().nullish(),
      request_timeout_s: seconds.nullish(),
    })
    .prefault({}),
  operations: z
    .strictObject({
      retries: z.number().int().nonnegative().default(2),
      retry_delay_s: z.number().nonnegative().default(0.5),
      retry_max_delay_s: z.number().nonnegative().default(8),
    })
    .prefault({}),
});

type Handle = SandboxHandle<E2bSandbox>;

/** Sandboxes of E2B, through the npm package `e2b` of the user's project. */
export class E2bProvider implements SandboxProvider<E2bSandbox> {
  readonly name = "e2b";
  readonly #settings: z.output<typeof e2bSettings>;
  readonly #sdk: E2bSdk;
  readonly #connection: Record<string, unknown>;
  readonly #running: Semaphore;
  readonly #redact: (text: string) => string;

  constructor(settings: unknown, sdk: E2bSdk, env: NodeJS.ProcessEnv = process.env) {
    const parsed = readSettings("e2b", e2bSettings, settings);
    const { api_key, request_timeout_s, headers, api_headers, ...connection } = parsed.connection;
    const apiKey = api_key || env["E2B_API_KEY"];
    if (!apiKey && !connection.debug)
      throw new SandboxConfigError(
        "The sandbox provider 'e2b' needs connection.api_key, or the variable E2B_API_KEY.",
      );
    this.#settings = parsed;
    this.#sdk = sdk;
    this.#running = new Semaphore(parsed.exec.concurrency);
    this.#redact = redactor([apiKey]);
    this.#connection = given({
      apiKey,
      apiUrl: connection.api_url,
      sandboxUrl: connection.sandbox_url,
      domain: connection.domain,
      debug: connection.debug,
      validateApiKey: connection.validate_api_key,
      proxy: connection.proxy,
      requestTimeoutMs: milliseconds(request_timeout_s),
      apiHeaders: { ...headers, ...api_headers },
    });
  }

  get isOffline(): boolean {
    return !this.#settings.create.allow_internet_access;
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const { create } = this.#settings;
    if (spec.entrypoint)
      throw new SandboxSpecError("Sandboxes of 'e2b' have no entrypoint: the template starts its processes.");
    if (create.strict_resources && Object.values(spec.resources).some((value) => value !== undefined))
      throw new SandboxSpecError(
        "Sandboxes of 'e2b' have the resources of their template (strict_resources).",
      );
    const options = given({
      ...this.#connection,
      signal,
      template: this.#templateOf(spec),
      timeoutMs: (spec.ttl_s ?? create.timeout_s) * 1000,
      secure: create.secure,
      allowInternetAccess: create.allow_internet_access,
      envs: spec.env,
      metadata: spec.metadata,
      lifecycle:
        create.auto_resume == null ? undefined : { onTimeout: "pause", autoResume: create.auto_resume },
    });
    try {
      return this.#handleOf(await this.#sdk.Sandbox.create(options));
    } catch (error) {
      signal?.throwIfAborted();
      throw new SandboxCreateError(`E2B created no sandbox: ${this.#reason(error)}`, { cause: error });
    }
  }

  async exec({ raw }: Handle, command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    if (options.stdin !== undefined)
      throw new SandboxSpecError(
        "Commands of 'e2b' do not accept standard input; upload a file and read it.",
      );
    const { exec } = this.#settings;
    const limit = options.timeoutSeconds ?? exec.default_timeout_s;
    return this.#running.run(() => this.#run(raw, command, limit, options), options.signal);
  }

  async uploadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    await this.#transfer(target, options, async (request) => {
      if (!(await stat(source)).isFile()) throw new Error(`'${source}' is not a regular file`);
      await raw.files.write(target, new Blob([await readFile(source)]), request);
    });
  }

  async writeFile(
    { raw }: Handle,
    target: string,
    content: string | Uint8Array,
    options?: Cancellable,
  ): Promise<void> {
    const data = typeof content === "string" ? content : new Blob([new Uint8Array(content)]);
    await this.#transfer(target, options, (request) => raw.files.write(target, data, request));
  }

  async downloadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    await mkdir(path.dirname(path.resolve(target)), { recursive: true });
    await this.#transfer(source, options, async (request) => {
      const content = await raw.files.read(source, { ...request, format: "stream" });
      try {
        await pipeline(Readable.fromWeb(content as NodeReadableStream), createWriteStream(target));
      } catch (error) {
        await rm(target, { force: true });
        throw error;
      }
    });
  }

  async status({ raw }: Handle, options: Cancellable = {}): Promise<SandboxStatus> {
    try {
      return (await raw.isRunning(this.#request(options))) ? "running" : "stopped";
    } catch (error) {
      options.signal?.throwIfAborted();
      return nameOf(error) === "SandboxNotFoundError" ? "stopped" : "unknown";
    }
  }

  async endpoint({ raw }: Handle, port: number): Promise<SandboxEndpoint> {
    const token = raw.trafficAccessToken;
    const scheme = this.#settings.connection.debug ? "http" : "https";
    return {
      endpoint: `${scheme}://${raw.getHost(port)}`,
      headers: token ? { "e2b-traffic-access-token": token } : {},
    };
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    return { provider: this.name, sandbox_id: raw.sandboxId };
  }

  async connect({ sandbox_id }: SandboxDescriptor, { signal }: Cancellable = {}): Promise<Handle> {
    try {
      return this.#handleOf(
        await this.#sdk.Sandbox.connect(sandbox_id, given({ ...this.#connection, signal })),
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw new SandboxOperationError(`E2B sandbox '${sandbox_id}': ${this.#reason(error)}`, {
        cause: error,
      });
    }
  }

  async close({ raw }: Handle): Promise<void> {
    const budget = retryBudget(this.#settings.operations);
    const started = performance.now();
    for (let attempt = 1; ; attempt++)
      try {
        // False: the sandbox no longer exists.
        await raw.kill(this.#request({}));
        return;
      } catch (error) {
        if (nameOf(error) === "SandboxNotFoundError") return;
        const delay = nextDelay(budget, { attempt, elapsedMs: performance.now() - started });
        const message = `E2B sandbox '${raw.sandboxId}' was not ended: ${this.#reason(error)}`;
        if (delay === undefined) throw new SandboxOperationError(message, { cause: error });
        await sleep(delay);
      }
  }

  async aclose(): Promise<void> {
    // The connections belong to the process.
  }

  async #run(
    raw: E2bSandbox,
    command: string,
    limitSeconds: number | null,
    { cwd, env, user, signal }: ExecOptions,
  ): Promise<SandboxExecResult> {
    const { exec } = this.#settings;
    let held = 0;
    let isFlood = false;
    let running: E2bCommand | undefined;
    const end = () => void running?.kill().catch(() => {});
    const count = (data: string) => {
      held += data.length;
      if (held <= MAX_HELD_OUTPUT || isFlood) return;
      isFlood = true;
      end();
    };
    const output = (streams: { stdout: string; stderr: string }) => ({
      stdout: streams.stdout.slice(0, exec.max_output_bytes),
      stderr: streams.stderr.slice(0, exec.max_output_bytes),
      truncated: Math.max(streams.stdout.length, streams.stderr.length) > exec.max_output_bytes,
    });
    signal?.addEventListener("abort", end);
    try {
      running = await raw.commands.run(command, {
        ...this.#request({ signal }, exec.request_timeout_s),
        background: true,
        ...given({
          cwd,
          user: user === 0 ? "root" : (user ?? exec.user)?.toString(),
          envs: env && { ...env },
        }),
        timeoutMs: milliseconds(limitSeconds) ?? 0,
        onStdout: count,
        onStderr: count,
      });
      // The caller may have stopped before the command could be ended.
      if (signal?.aborted) end();
      const { exitCode, ...streams } = await running.wait();
      return commandResult({ ...output(streams), code: exitCode });
    } catch (error) {
      signal?.throwIfAborted();
      const streams = { stdout: running?.stdout ?? "", stderr: running?.stderr ?? "" };
      if (isFlood)
        return sandboxFailure({
          ...output(streams),
          stderr: `The command wrote more than ${MAX_HELD_OUTPUT} bytes.`,
        });
      const { exitCode } = error as { exitCode?: unknown };
      if (typeof exitCode === "number") return commandResult({ ...output(streams), code: exitCode });
      if (running && nameOf(error) === "TimeoutError") return timeoutResult(output(streams), limitSeconds);
      return sandboxFailure({ ...output(streams), stderr: `${streams.stderr}${this.#reason(error)}` });
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  /** The template of a spec: named by it, mapped from its image, or its image itself. */
  #templateOf({ image, provider_options }: SandboxSpec): string | undefined {
    const { template, template_map } = this.#settings.create;
    const { template: own } = provider_options;
    if (typeof own === "string") return own;
    if (image === undefined) return template ?? undefined;
    if (Object.hasOwn(template_map, image)) return template_map[image];
    if (TEMPLATE_NAME.test(image)) return image;
    throw new SandboxSpecError(
      `E2B runs templates, not images: name the template of '${image}' in create.template_map.`,
    );
  }

  async #transfer(
    file: string,
    options: Cancellable | undefined,
    copy: (request: E2bRequest) => Promise<unknown>,
  ): Promise<void> {
    try {
      await copy(this.#request(options ?? {}));
    } catch (error) {
      options?.signal?.throwIfAborted();
      throw new SandboxTransferError(`'${file}' was not copied: ${this.#reason(error)}`, { cause: error });
    }
  }

  #request({ signal }: Cancellable, limitSeconds?: number | null): E2bRequest {
    return given({ signal, requestTimeoutMs: milliseconds(limitSeconds) });
  }

  #handleOf(raw: E2bSandbox): Handle {
    return { sandboxId: raw.sandboxId, providerName: this.name, raw };
  }

  #reason(error: unknown): string {
    return this.#redact(errorMessage(error));
  }
}

/** The SDK names its errors. Its classes are those of another copy of the package when a server has its own. */
function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

function milliseconds(limitSeconds: number | null | undefined): number | undefined {
  return limitSeconds == null ? undefined : limitSeconds * 1000;
}

/** The options that have a value: the SDK takes undefined for some of them as one. */
function given<T extends object>(options: T): { [Key in keyof T]: NonNullable<T[Key]> } {
  const entries = Object.entries(options).filter(([, value]) => value != null);
  return Object.fromEntries(entries) as { [Key in keyof T]: NonNullable<T[Key]> };
}
