import { randomUUID } from "node:crypto";
import { sleep } from "../../../calls/deadline.ts";
import { Semaphore } from "../../../calls/semaphore.ts";
import { SandboxConfigError, SandboxCreateError, SandboxSpecError } from "../../errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "../../exec-results.ts";
import { checkEnvironment, shellQuote } from "../../plain-words.ts";
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
import { type DaytonaSettings, daytonaSettings } from "./settings.ts";

const PUBLIC_SERVICE = "https://app.daytona.io/api";
const REQUEST_TIMEOUT_MS = 60_000;

interface DaytonaSandbox {
  id: string;
  /** Where commands and files of this sandbox go. */
  toolbox: string;
  env: Readonly<Record<string, string>>;
}

type Handle = SandboxHandle<DaytonaSandbox>;

interface SandboxAnswer {
  id: string;
  state?: string;
  errorReason?: string;
  toolboxProxyUrl?: string;
}

/** Sandboxes of a Daytona service, through its HTTP interface. */
export class DaytonaProvider implements SandboxProvider<DaytonaSandbox> {
  readonly name = "daytona";
  readonly #settings: DaytonaSettings;
  readonly #client: ServiceClient;
  readonly #api: string;
  readonly #running: Semaphore;

  constructor(settings?: unknown, env: NodeJS.ProcessEnv = process.env) {
    this.#settings = readSettings(this.name, daytonaSettings, settings);
    const { connection, exec } = this.#settings;
    const key = connection.api_key || connection.jwt_token || env["DAYTONA_API_KEY"];
    if (!key)
      throw new SandboxConfigError(
        "The sandbox provider 'daytona' needs connection.api_key, or the variable DAYTONA_API_KEY.",
      );
    const url = connection.api_url || connection.server_url || env["DAYTONA_API_URL"] || PUBLIC_SERVICE;
    this.#api = url.replace(/\/+$/, "");
    const organization = connection.organization_id;
    this.#client = new ServiceClient(
      {
        authorization: `Bearer ${key}`,
        ...(organization && { "x-daytona-organization-id": organization }),
      },
      [key],
    );
    this.#running = new Semaphore(exec.concurrency);
  }

  async create(spec: SandboxSpec, { signal }: Cancellable = {}): Promise<Handle> {
    if (spec.image !== undefined && /\s/.test(spec.image))
      throw new SandboxSpecError(`'${spec.image}' cannot be the name of an image.`);
    const { create, probe } = this.#settings;
    const made = (await this.#client.json({
      method: "POST",
      url: `${this.#api}/sandbox`,
      json: this.#creation(spec),
      timeoutMs: create.timeout_s * 1000,
      retries: retryBudget(create),
      signal,
    })) as SandboxAnswer;
    const raw: DaytonaSandbox = { id: made.id, toolbox: "", env: spec.env };
    const handle = { sandboxId: made.id, providerName: this.name, raw };
    try {
      raw.toolbox = await this.#untilStarted(made.id, signal);
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

  /** The service gives both streams as one; an unpredictable marker separates stderr. */
  async exec({ raw }: Handle, command: string, options: ExecOptions = {}): Promise<SandboxExecResult> {
    const { operations, exec } = this.#settings;
    if (options.stdin !== undefined)
      throw new SandboxSpecError(
        "Commands of 'daytona' take no standard input; upload a file and read that.",
      );
    checkEnvironment({ ...raw.env, ...options.env });
    const timeoutSeconds = options.timeoutSeconds ?? exec.default_timeout_s;
    const mark = randomUUID();
    const json = {
      command: `sh -c ${shellQuote(script(command, mark, { ...raw.env, ...options.env }, options))}`,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(timeoutSeconds !== null && { timeout: Math.ceil(timeoutSeconds) }),
    };
    const limitMs = ((timeoutSeconds ?? 86_400) + operations.command_timeout_margin_s) * 1000;
    try {
      const answer = (await this.#running.run(
        () =>
          this.#client.json({
            method: "POST",
            url: `${raw.toolbox}/process/execute`,
            json,
            timeoutMs: limitMs,
            signal: options.signal,
          }),
        options.signal,
      )) as { exitCode?: number; result?: string };
      return commandResult({
        ...split(answer.result ?? "", mark, operations.max_output_bytes),
        code: answer.exitCode ?? 0,
      });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const output = { stdout: "", stderr: error.message };
      return error.status === 408 ? timeoutResult(output, timeoutSeconds) : sandboxFailure(output);
    }
  }

  async uploadFile(
    { raw }: Handle,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    const url = `${raw.toolbox}/files/upload?path=${encodeURIComponent(target)}`;
    await this.#client.upload({ ...this.#transfer(options), url }, source, []);
  }

  async downloadFile(
    { raw }: Handle,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    const url = `${raw.toolbox}/files/download?path=${encodeURIComponent(source)}`;
    await this.#client.download({ ...this.#transfer(options), method: "GET", url }, target);
  }

  async status({ raw }: Handle, options: Cancellable = {}): Promise<SandboxStatus> {
    try {
      return statusOf((await this.#look(raw.id, options.signal)).state);
    } catch (error) {
      if (error instanceof ServiceError) return error.status === 404 ? "stopped" : "unknown";
      throw error;
    }
  }

  async endpoint({ raw }: Handle, port: number, { signal }: Cancellable = {}): Promise<SandboxEndpoint> {
    const { url, token } = (await this.#ask(
      "GET",
      `/sandbox/${raw.id}/ports/${port}/preview-url`,
      signal,
    )) as {
      url: string;
      token?: string;
    };
    return { endpoint: url, headers: token ? { "x-daytona-preview-token": token } : {} };
  }

  serialize({ raw }: Handle): SandboxDescriptor {
    return { provider: this.name, sandbox_id: raw.id, env: raw.env };
  }

  async connect(descriptor: SandboxDescriptor, { signal }: Cancellable = {}): Promise<Handle> {
    const id = descriptor.sandbox_id;
    const toolbox = await this.#untilStarted(id, signal);
    const env = (descriptor["env"] ?? {}) as Record<string, string>;
    return { sandboxId: id, providerName: this.name, raw: { id, toolbox, env } };
  }

  async close({ raw }: Handle): Promise<void> {
    try {
      await this.#ask("DELETE", `/sandbox/${raw.id}`, undefined);
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 404)) throw error;
    }
  }

  async aclose(): Promise<void> {
    // Connections are those of the process.
  }

  #ask(method: "GET" | "DELETE", where: string, signal: AbortSignal | undefined): Promise<unknown> {
    const { operations } = this.#settings;
    const seconds = method === "DELETE" ? operations.close_timeout_s : null;
    const timeoutMs = seconds === null ? REQUEST_TIMEOUT_MS : seconds * 1000;
    return this.#client.json({
      method,
      url: `${this.#api}${where}`,
      timeoutMs,
      retries: retryBudget(operations),
      signal,
    });
  }

  async #look(id: string, signal: AbortSignal | undefined): Promise<SandboxAnswer> {
    return (await this.#ask("GET", `/sandbox/${encodeURIComponent(id)}`, signal)) as SandboxAnswer;
  }

  async #untilStarted(id: string, signal: AbortSignal | undefined): Promise<string> {
    const { create, operations } = this.#settings;
    const end = Date.now() + create.timeout_s * 1000;
    for (;;) {
      const { state, errorReason, toolboxProxyUrl } = await this.#look(id, signal);
      const status = statusOf(state);
      if (status === "running" && toolboxProxyUrl) return `${toolboxProxyUrl.replace(/\/+$/, "")}/${id}`;
      if (status === "error" || status === "stopped")
        throw new SandboxCreateError(
          `The Daytona sandbox '${id}' is '${state}': ${errorReason ?? "no reason given"}`,
        );
      if (Date.now() >= end)
        throw new SandboxCreateError(
          `The Daytona sandbox '${id}' was not started within ${create.timeout_s} s.`,
        );
      await sleep(operations.poll_s * 1000, signal);
    }
  }

  #creation(spec: SandboxSpec): Record<string, unknown> {
    const { create, connection } = this.#settings;
    const { snapshot_id: snapshot, volumes } = spec.provider_options;
    const { cpu, memory_mib: memory, disk_gib: disk, gpu } = spec.resources;
    const fields = {
      ...(spec.image === undefined
        ? { snapshot }
        : { buildInfo: { dockerfileContent: `FROM ${spec.image}\n` } }),
      user: create.os_user,
      env: spec.env,
      labels: spec.metadata,
      public: create.public,
      networkBlockAll: create.network_block_all,
      networkAllowList: create.network_allow_list,
      target: connection.target,
      cpu: cpu === undefined ? undefined : Math.ceil(cpu),
      memory: memory === undefined ? undefined : Math.ceil(memory / 1024),
      disk,
      gpu,
      // Counted from the last use; the service has no limit on the whole life.
      autoStopInterval:
        create.auto_stop_interval ?? (spec.ttl_s === undefined ? undefined : Math.ceil(spec.ttl_s / 60)),
      autoArchiveInterval: create.auto_archive_interval,
      autoDeleteInterval: create.auto_delete_interval ?? (spec.ttl_s === undefined ? undefined : 0),
      volumes,
    };
    return Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
    );
  }

  #transfer({ signal }: Cancellable): Pick<ServiceRequest, "timeoutMs" | "retries" | "signal"> {
    const { operations } = this.#settings;
    return {
      timeoutMs: (operations.file_timeout_s ?? 86_400) * 1000,
      retries: retryBudget(operations),
      signal,
    };
  }
}

function script(
  command: string,
  mark: string,
  env: Readonly<Record<string, string>>,
  { user }: ExecOptions,
): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  const shell =
    user === undefined ? "sh -c" : `sudo -n -E -u ${shellQuote(user === 0 ? "root" : String(user))} sh -c`;
  return [
    ...variables,
    `${shell} ${shellQuote(command)} 2> /tmp/${mark}`,
    "code=$?",
    `printf %s ${mark}; cat /tmp/${mark}; rm -f /tmp/${mark}`,
    "exit $code",
  ].join("\n");
}

function split(
  text: string,
  mark: string,
  limit: number,
): { stdout: string; stderr: string; truncated: boolean } {
  const at = text.lastIndexOf(mark);
  const stdout = at === -1 ? text : text.slice(0, at);
  const stderr = at === -1 ? "" : text.slice(at + mark.length);
  return {
    stdout: stdout.slice(0, limit),
    stderr: stderr.slice(0, limit),
    truncated: stdout.length > limit || stderr.length > limit,
  };
}

const STATUSES: Readonly<Record<string, SandboxStatus>> = {
  started: "running",
  destroyed: "stopped",
  destroying: "stopped",
  stopped: "stopped",
  stopping: "stopped",
  archived: "stopped",
  archiving: "stopped",
  error: "error",
  build_failed: "error",
  creating: "starting",
  restoring: "starting",
  starting: "starting",
  pending_build: "starting",
  building_snapshot: "starting",
  pulling_snapshot: "starting",
};

function statusOf(state: string | undefined): SandboxStatus {
  return STATUSES[state ?? ""] ?? "unknown";
}
