import { z } from "zod";
import { type RetryBudget, Semaphore, sleep } from "../../base/transport/light-door.ts";
import { SandboxCreateError, SandboxSpecError } from "../errors.ts";
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
import {
  DEFAULT_OUTPUT_BYTES,
  type ExecSettings,
  type ProbeSettings,
  seconds,
} from "../provider-settings.ts";
import { waitUntilReady } from "../readiness.ts";
import type { SandboxSpec } from "../spec.ts";
import { type ServiceClient, ServiceError, type ServiceRequest } from "./service-client.ts";

/** The limit of requests whose settings have none: a day. */
const LONGEST_REQUEST_SECONDS = 86_400;
/** What the readiness probe of a service prints. */
export const READY_MARK = "nemo-gym-sandbox-ready";

/** Retries and limits of calls after the creation. Keys of the original without a meaning here are accepted. */
export const operationSettings = z
  .looseObject({
    retries: z.number().int().nonnegative().default(3),
    retry_delay_s: z.number().nonnegative().default(1),
    retry_max_delay_s: z.number().nonnegative().default(15),
    /** Added to the time limit of a command for the service itself. */
    command_timeout_margin_s: z.number().nonnegative().default(60),
    file_timeout_s: seconds.nullable().default(1800),
    close_timeout_s: seconds.nullable().default(60),
    max_output_bytes: z.number().int().positive().default(DEFAULT_OUTPUT_BYTES),
    /** Between two checks of a sandbox that is being created. */
    poll_s: seconds.default(1),
  })
  .prefault({});

export const serviceCreateSettings = {
  timeout_s: z.number().positive().default(600),
  retries: z.number().int().nonnegative().default(2),
  retry_delay_s: z.number().nonnegative().default(1),
  retry_max_delay_s: z.number().nonnegative().default(30),
};
type CreateSettings = z.output<z.ZodObject<typeof serviceCreateSettings>>;

interface ServiceSettings {
  create: CreateSettings;
  exec: ExecSettings;
  operations: z.output<typeof operationSettings>;
  probe: ProbeSettings;
}

interface Service {
  client: ServiceClient;
  /** The URL of all sandboxes. That of one sandbox adds its id. */
  url: string;
  requestSeconds: number;
}

/** A sandbox of a service. */
export interface ServiceSandbox {
  id: string;
  /** The endpoint in the sandbox that runs commands and copies files. */
  toolbox: SandboxEndpoint;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<ServiceSandbox>;

/** The state of a sandbox as its service reports it. */
export interface ServiceState {
  status: SandboxStatus;
  /** The word of the service. */
  state: string | undefined;
  reason: string | undefined;
}

/** A command with its time limit, and the request that sends it without address and body. */
export interface ServiceCommand extends ExecOptions {
  command: string;
  timeoutSeconds: number | null;
  request: Pick<ServiceRequest, "method" | "headers" | "timeoutMs" | "signal">;
}

/** Base of providers whose sandboxes run in a service with an HTTP interface. `Answer` describes a sandbox. */
export abstract class ServiceProvider<Answer> implements SandboxProvider<ServiceSandbox> {
  abstract readonly name: string;
  /** The name of the service in messages. */
  protected abstract readonly title: string;
  protected readonly client: ServiceClient;
  readonly #service: Service;
  readonly #settings: ServiceSettings;
  readonly #running: Semaphore;

  constructor(settings: ServiceSettings, service: Service) {
    this.client = service.client;
    this.#service = service;
    this.#settings = settings;
    this.#running = new Semaphore(settings.exec.concurrency);
  }

  /** The body of the request that creates a sandbox. */
  protected abstract creation(spec: SandboxSpec): Record<string, unknown>;
  protected abstract stateOf(answer: Answer): ServiceState;
  /** The toolbox of a running sandbox; undefined while it is not available yet. */
  protected abstract findToolbox(
    id: string,
    answer: Answer,
    signal: AbortSignal | undefined,
  ): Promise<SandboxEndpoint | undefined>;
  protected abstract runCommand(raw: ServiceSandbox, command: ServiceCommand): Promise<SandboxExecResult>;
  abstract uploadFile(handle: Handle, source: string, target: string, options?: Cancellable): Promise<void>;
  abstract endpoint(handle: Handle, port: number, options?: Cancellable): Promise<SandboxEndpoint>;

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const { create, probe } = this.#settings;
    const { id } = (await this.client.json({
      method: "POST",
      url: this.#service.url,
      json: this.creation(spec),
      timeoutMs: create.timeout_s * 1000,
      retries: retryBudget(create),
      signal,
    })) as { id: string };
    const handle = this.#handleOf({ id, toolbox: { endpoint: "", headers: {} }, env: spec.env });
    try {
      handle.raw.toolbox = await this.#untilRunning(id, signal);
      await waitUntilReady(this, handle, { probe, spec, signal });
      return handle;
    } catch (error) {
      await this.close(handle);
      throw error;
    }
  }

  async exec({ raw }: Handle, command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    const { operations, exec } = this.#settings;
    if (options.stdin !== undefined)
      throw new SandboxSpecError(
        `Commands of '${this.name}' do not accept standard input; upload a file and read it.`,
      );
    const timeoutSeconds = options.timeoutSeconds ?? exec.default_timeout_s;
    const limitSeconds = (timeoutSeconds ?? LONGEST_REQUEST_SECONDS) + operations.command_timeout_margin_s;
    const request = {
      method: "POST" as const,
      headers: raw.toolbox.headers,
      timeoutMs: limitSeconds * 1000,
      signal: options.signal,
    };
    return this.#running.run(
      () => this.runCommand(raw, { ...options, command, timeoutSeconds, request }),
      options.signal,
    );
  }

  async downloadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    const request = this.transferRequest(raw, `/files/download?path=${encodeURIComponent(source)}`, options);
    await this.client.download({ ...request, method: "GET" }, target);
  }

  async status({ raw }: Handle, { signal }: Cancellable = {}): Promise<SandboxStatus> {
    try {
      return this.stateOf(await this.#look(raw.id, signal)).status;
    } catch (error) {
      if (error instanceof ServiceError) return error.status === 404 ? "stopped" : "unknown";
      throw error;
    }
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    return { provider: this.name, sandbox_id: raw.id, env: raw.env };
  }

  async connect(descriptor: SandboxDescriptor, { signal }: Cancellable = {}): Promise<Handle> {
    const id = descriptor.sandbox_id;
    const toolbox = await this.#untilRunning(id, signal);
    return this.#handleOf({ id, toolbox, env: (descriptor["env"] ?? {}) as Record<string, string> });
  }

  async close({ raw }: Handle): Promise<void> {
    try {
      await this.ask("DELETE", raw.id, "", undefined);
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 404)) throw error;
    }
  }

  async aclose(): Promise<void> {
    // The connections belong to the process.
  }

  /** Sends a request about one sandbox. `path` is relative to the URL of the sandbox. */
  protected ask(
    method: "GET" | "DELETE",
    id: string,
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { operations } = this.#settings;
    const { url, requestSeconds } = this.#service;
    const limitSeconds = (method === "DELETE" ? operations.close_timeout_s : null) ?? requestSeconds;
    return this.client.json({
      method,
      url: `${url}/${encodeURIComponent(id)}${path}`,
      timeoutMs: limitSeconds * 1000,
      retries: retryBudget(operations),
      signal,
    });
  }

  /** A request to the toolbox that copies a file. */
  protected transferRequest({ toolbox }: ServiceSandbox, path: string, { signal }: Cancellable = {}) {
    const { operations } = this.#settings;
    return {
      url: `${toolbox.endpoint}${path}`,
      headers: toolbox.headers,
      timeoutMs: (operations.file_timeout_s ?? LONGEST_REQUEST_SECONDS) * 1000,
      retries: retryBudget(operations),
      signal,
    };
  }

  #handleOf(raw: ServiceSandbox): Handle {
    return { sandboxId: raw.id, providerName: this.name, raw };
  }

  async #look(id: string, signal: AbortSignal | undefined): Promise<Answer> {
    return (await this.ask("GET", id, "", signal)) as Answer;
  }

  async #untilRunning(id: string, signal: AbortSignal | undefined): Promise<SandboxEndpoint> {
    const { create, operations } = this.#settings;
    const end = Date.now() + create.timeout_s * 1000;
    for (;;) {
      const answer = await this.#look(id, signal);
      const { status, state, reason = "no reason given" } = this.stateOf(answer);
      const toolbox = status === "running" ? await this.findToolbox(id, answer, signal) : undefined;
      if (toolbox !== undefined) return toolbox;
      const sandbox = `The ${this.title} sandbox '${id}'`;
      if (status === "error" || status === "stopped")
        throw new SandboxCreateError(`${sandbox} is '${state}': ${reason}`);
      if (Date.now() >= end)
        throw new SandboxCreateError(`${sandbox} was not running within ${create.timeout_s} s.`);
      await sleep(operations.poll_s * 1000, signal);
    }
  }
}

export function retryBudget(settings: Omit<CreateSettings, "timeout_s">): RetryBudget {
  return {
    attempts: settings.retries + 1,
    wallClockMs: null,
    baseDelayMs: settings.retry_delay_s * 1000,
    maxDelayMs: settings.retry_max_delay_s * 1000,
  };
}
