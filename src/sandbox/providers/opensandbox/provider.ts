import { sleep } from "../../../calls/deadline.ts";
import { Semaphore } from "../../../calls/semaphore.ts";
import { isObject } from "../../../python/json/json-object.ts";
import { SandboxConfigError, SandboxCreateError, SandboxSpecError } from "../../errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "../../exec-results.ts";
import type {
  Cancellable,
  ExecOptions,
  SandboxDescriptor,
  SandboxEndpoint,
  SandboxExecResult,
  SandboxHandle,
  SandboxProvider,
  SandboxStatus,
} from "../../provider.ts";
import { readSettings } from "../../provider-settings.ts";
import { waitUntilReady } from "../../readiness.ts";
import { ServiceClient, ServiceError, type ServiceRequest } from "../../service-client.ts";
import { retryBudget } from "../../service-settings.ts";
import type { SandboxSpec } from "../../spec.ts";
import { CommandEvents } from "./command-events.ts";
import { labelsOf, type OpenSandboxSettings, openSandboxSettings } from "./settings.ts";

/** Where the service inside every sandbox listens. */
const EXEC_PORT = 44_772;
const KEEP_ALIVE = ["tail", "-f", "/dev/null"];
/** The service refuses less. */
const SHORTEST_LIFE_SECONDS = 60;

interface OpenSandbox {
  id: string;
  exec: SandboxEndpoint;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<OpenSandbox>;

interface SandboxAnswer {
  id: string;
  status?: { state?: string; message?: string; reason?: string };
}

/** Sandboxes of an OpenSandbox service, through its HTTP interface. */
export class OpenSandboxProvider implements SandboxProvider<OpenSandbox> {
  readonly name = "opensandbox";
  readonly #settings: OpenSandboxSettings;
  readonly #client: ServiceClient;
  readonly #origin: string;
  readonly #running: Semaphore;

  constructor(settings?: unknown, env: NodeJS.ProcessEnv = process.env) {
    this.#settings = readSettings(this.name, openSandboxSettings, settings);
    const { connection, exec } = this.#settings;
    const domain = connection.domain || env["OPEN_SANDBOX_DOMAIN"];
    if (!domain)
      throw new SandboxConfigError(
        "The sandbox provider 'opensandbox' needs connection.domain, or the variable OPEN_SANDBOX_DOMAIN.",
      );
    const key = connection.api_key || env["OPEN_SANDBOX_API_KEY"];
    this.#origin = /^https?:\/\//.test(domain)
      ? domain.replace(/\/+$/, "")
      : `${connection.protocol}://${domain}`;
    this.#client = new ServiceClient(key ? { "open-sandbox-api-key": key } : {}, [key]);
    this.#running = new Semaphore(exec.concurrency);
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    const { create, probe } = this.#settings;
    const made = (await this.#client.json({
      method: "POST",
      url: `${this.#origin}/v1/sandboxes`,
      json: this.#creation(spec),
      timeoutMs: create.timeout_s * 1000,
      retries: retryBudget(create),
      signal,
    })) as SandboxAnswer;
    const raw: OpenSandbox = { id: made.id, exec: { endpoint: "", headers: {} }, env: spec.env };
    const handle = { sandboxId: made.id, providerName: this.name, raw };
    try {
      await this.#untilRunning(made.id, signal);
      raw.exec = await this.endpoint(handle, EXEC_PORT, { signal });
      await waitUntilReady({
        sandboxId: made.id,
        probe,
        readyTimeoutSeconds: spec.ready_timeout_s,
        signal,
        run: (command, timeoutSeconds) => this.exec(handle, command, { timeoutSeconds, signal }),
      });
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
        "Commands of 'opensandbox' take no standard input; upload a file and read that.",
      );
    const timeoutSeconds = options.timeoutSeconds ?? exec.default_timeout_s;
    const events = new CommandEvents(exec.max_output_bytes);
    const json = {
      command,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(timeoutSeconds !== null && { timeout: Math.ceil(timeoutSeconds * 1000) }),
      ...(options.user !== undefined && { uid: userNumber(options.user) }),
      envs: { ...raw.env, ...options.env },
    };
    const startedAt = Date.now();
    const ask: ServiceRequest = {
      method: "POST",
      url: `${raw.exec.endpoint}/command`,
      headers: raw.exec.headers,
      json,
      timeoutMs: ((timeoutSeconds ?? 86_400) + operations.command_timeout_margin_s) * 1000,
      signal: options.signal,
    };
    try {
      return await this.#running.run(async () => {
        await this.#client.lines(ask, events.add);
        const code = await this.#exitCode(raw, events, options.signal);
        // The service ends a command at its time limit and reports that only by its exit code.
        const isLate = timeoutSeconds !== null && Date.now() - startedAt >= timeoutSeconds * 1000;
        if (isLate && code !== 0) return timeoutResult(events.output(), timeoutSeconds);
        if (code === undefined) return sandboxFailure(withError(events));
        return commandResult({ ...events.output(), code });
      }, options.signal);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.status === 408) return timeoutResult(events.output(), timeoutSeconds);
      return sandboxFailure({ ...events.output(), stderr: error.message });
    }
  }

  async uploadFile(
    { raw }: Handle,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    const metadata = { name: "metadata", type: "application/json", text: JSON.stringify({ path: target }) };
    const url = `${raw.exec.endpoint}/files/upload`;
    await this.#client.upload({ ...this.#transfer(raw, options), url }, source, [metadata]);
  }

  async downloadFile(
    { raw }: Handle,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    const url = `${raw.exec.endpoint}/files/download?path=${encodeURIComponent(source)}`;
    await this.#client.download({ ...this.#transfer(raw, options), method: "GET", url }, target);
  }

  async status({ raw }: Handle, { signal }: Cancellable = {}): Promise<SandboxStatus> {
    try {
      return statusOf((await this.#look(raw.id, signal)).status?.state);
    } catch (error) {
      if (error instanceof ServiceError) return error.status === 404 ? "stopped" : "unknown";
      throw error;
    }
  }

  async endpoint({ raw }: Handle, port: number, { signal }: Cancellable = {}): Promise<SandboxEndpoint> {
    const { use_server_proxy: proxied, protocol } = this.#settings.connection;
    const where = `/sandboxes/${encodeURIComponent(raw.id)}/endpoints/${port}?use_server_proxy=${proxied}`;
    const { endpoint, headers = {} } = (await this.#ask("GET", where, signal)) as {
      endpoint: string;
      headers?: Record<string, string>;
    };
    const url = /^https?:\/\//.test(endpoint) ? endpoint : `${protocol}://${endpoint}`;
    return { endpoint: url.replace(/\/+$/, ""), headers };
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    return { provider: this.name, sandbox_id: raw.id, env: raw.env };
  }

  async connect(descriptor: SandboxDescriptor, { signal }: Cancellable = {}): Promise<Handle> {
    const id = descriptor.sandbox_id;
    await this.#untilRunning(id, signal);
    const env = (descriptor["env"] ?? {}) as Record<string, string>;
    const raw: OpenSandbox = { id, exec: { endpoint: "", headers: {} }, env };
    const handle = { sandboxId: id, providerName: this.name, raw };
    raw.exec = await this.endpoint(handle, EXEC_PORT, { signal });
    return handle;
  }

  async close({ raw }: Handle): Promise<void> {
    try {
      await this.#ask("DELETE", `/sandboxes/${encodeURIComponent(raw.id)}`, undefined);
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 404)) throw error;
    }
  }

  async aclose(): Promise<void> {
    // Connections are those of the process.
  }

  /** The stream may not tell; then the service knows. */
  async #exitCode(
    raw: OpenSandbox,
    events: CommandEvents,
    signal: AbortSignal | undefined,
  ): Promise<number | undefined> {
    if (events.code !== undefined) return events.code;
    if (events.commandId === undefined) return undefined;
    const { exit_code: code } = (await this.#client.json({
      method: "GET",
      url: `${raw.exec.endpoint}/command/status/${encodeURIComponent(events.commandId)}`,
      headers: raw.exec.headers,
      timeoutMs: this.#settings.connection.request_timeout_s * 1000,
      retries: retryBudget(this.#settings.operations),
      signal,
    })) as { exit_code?: number | null };
    return code ?? undefined;
  }

  #ask(method: "GET" | "DELETE", where: string, signal: AbortSignal | undefined): Promise<unknown> {
    const { operations, connection } = this.#settings;
    const seconds = (method === "DELETE" ? operations.close_timeout_s : null) ?? connection.request_timeout_s;
    return this.#client.json({
      method,
      url: `${this.#origin}/v1${where}`,
      timeoutMs: seconds * 1000,
      retries: retryBudget(operations),
      signal,
    });
  }

  async #look(id: string, signal: AbortSignal | undefined): Promise<SandboxAnswer> {
    return (await this.#ask("GET", `/sandboxes/${encodeURIComponent(id)}`, signal)) as SandboxAnswer;
  }

  async #untilRunning(id: string, signal: AbortSignal | undefined): Promise<void> {
    const { create, operations } = this.#settings;
    const end = Date.now() + create.timeout_s * 1000;
    for (;;) {
      const { status } = await this.#look(id, signal);
      const now = statusOf(status?.state);
      if (now === "running") return;
      if (now === "error" || now === "stopped")
        throw new SandboxCreateError(
          `The OpenSandbox sandbox '${id}' is '${status?.state}': ${status?.message ?? status?.reason ?? "no reason given"}`,
        );
      if (Date.now() >= end)
        throw new SandboxCreateError(
          `The OpenSandbox sandbox '${id}' was not running within ${create.timeout_s} s.`,
        );
      await sleep(operations.poll_s * 1000, signal);
    }
  }

  #creation(spec: SandboxSpec): Record<string, unknown> {
    const { create, attribution } = this.#settings;
    const { snapshot_id: snapshotId, extensions, volumes, network_policy: policy } = spec.provider_options;
    const isPooled = isObject(extensions) && "poolRef" in extensions;
    if (spec.image === undefined && snapshotId === undefined && !isPooled)
      throw new SandboxSpecError(
        "The provider 'opensandbox' needs an 'image', or provider_options.snapshot_id, or a pool in provider_options.extensions.",
      );
    const {
      cpu = create.default_cpu,
      memory_mib: memory = create.default_memory_mib,
      disk_gib: disk,
      gpu,
    } = spec.resources;
    const denied = create.network === "deny" && !isPooled ? { defaultAction: "deny" } : undefined;
    const fields = {
      image: spec.image === undefined ? undefined : { uri: spec.image },
      snapshotId,
      timeout: spec.ttl_s === undefined ? undefined : Math.max(SHORTEST_LIFE_SECONDS, Math.ceil(spec.ttl_s)),
      resourceLimits: {
        cpu: `${Math.ceil(cpu * 1000)}m`,
        memory: `${memory}Mi`,
        ...(disk !== undefined && { "ephemeral-storage": `${disk}Gi` }),
        ...(gpu && { gpu: String(gpu) }),
      },
      entrypoint: spec.entrypoint ?? (spec.image === undefined ? undefined : KEEP_ALIVE),
      env: spec.env,
      metadata: labelsOf(spec.metadata, attribution),
      networkPolicy: policy ?? denied,
      extensions,
      volumes,
    };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  #transfer(
    raw: OpenSandbox,
    { signal }: Cancellable,
  ): Pick<ServiceRequest, "timeoutMs" | "retries" | "signal" | "headers"> {
    const { operations } = this.#settings;
    return {
      headers: raw.exec.headers,
      timeoutMs: (operations.file_timeout_s ?? 86_400) * 1000,
      retries: retryBudget(operations),
      signal,
    };
  }
}

function userNumber(user: string | number): number {
  if (user === "root") return 0;
  const number = Number(user);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new SandboxSpecError(`The provider 'opensandbox' knows users by number, and root; not '${user}'.`);
}

function withError(events: CommandEvents): { stdout: string; stderr: string } {
  const { stdout, stderr } = events.output();
  return { stdout, stderr: `${stderr}${events.error ?? "The service did not tell how the command ended."}` };
}

const STATUSES: Readonly<Record<string, SandboxStatus>> = {
  Pending: "starting",
  Resuming: "starting",
  Running: "running",
  Pausing: "running",
  Paused: "running",
  Stopping: "stopped",
  Terminated: "stopped",
  Failed: "error",
};

function statusOf(state: string | undefined): SandboxStatus {
  return STATUSES[state ?? ""] ?? "unknown";
}
