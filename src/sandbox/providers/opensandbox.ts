import { z } from "zod";
import { isObject } from "../../base/python/json/door.ts";
import { SandboxConfigError, SandboxSpecError } from "../errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "../exec-results.ts";
import { OutputBuffer } from "../processes/output-buffer.ts";
import type {
  Cancellable,
  SandboxEndpoint,
  SandboxExecResult,
  SandboxHandle,
  SandboxStatus,
} from "../provider.ts";
import { execSettings, probeSettings, readSettings, seconds } from "../provider-settings.ts";
import type { SandboxSpec } from "../spec.ts";
import { ServiceClient, ServiceError } from "./service-client.ts";
import {
  operationSettings,
  READY_MARK,
  retryBudget,
  type ServiceCommand,
  ServiceProvider,
  type ServiceSandbox,
  type ServiceState,
  serviceCreateSettings,
} from "./service-provider.ts";

/** The port of the toolbox in every sandbox. */
const TOOLBOX_PORT = 44_772;
const KEEP_ALIVE = ["tail", "-f", "/dev/null"];
/** The minimum that the service accepts. */
const SHORTEST_LIFE_SECONDS = 60;
/** Members of the metadata that `attribution` sets. */
const ATTRIBUTION = new Set(["team", "user", "workload", "run"]);
const MAX_LABEL_CHARACTERS = 63;

/** Settings of `sandbox: {opensandbox: …}`. */
const openSandboxSettings = z.strictObject({
  connection: z
    .looseObject({
      /** Host, with a port if it is not the standard one. Default: `OPEN_SANDBOX_DOMAIN`. */
      domain: z.string().nullish(),
      /** Default: `OPEN_SANDBOX_API_KEY`. Some services need no key. */
      api_key: z.string().nullish(),
      protocol: z.enum(["http", "https"]).default("http"),
      request_timeout_s: seconds.default(300),
      /** Sends commands through the service instead of directly to the sandbox. */
      use_server_proxy: z.boolean().default(false),
    })
    .prefault({}),
  create: z
    .looseObject({
      ...serviceCreateSettings,
      /** For specs without this limit; the service requires one. */
      default_cpu: z.number().positive().default(1),
      default_memory_mib: z.number().int().positive().default(2048),
      /** `deny`: no network, unless the provider options have a policy; `allow`: no policy. */
      network: z.enum(["deny", "allow"]).default("deny"),
    })
    .prefault({}),
  exec: z.looseObject(execSettings).prefault({}),
  probe: probeSettings(READY_MARK),
  operations: operationSettings,
  attribution: z
    .looseObject({
      enabled: z.boolean().default(true),
      /** The prefix of the labels for attribution. */
      key_prefix: z.string().default("nemo-gym.nvidia.com/"),
    })
    .prefault({}),
});
type OpenSandboxSettings = z.output<typeof openSandboxSettings>;

interface OpenSandboxAnswer {
  status?: { state?: string; message?: string; reason?: string };
}

type Handle = SandboxHandle<ServiceSandbox>;

/** Sandboxes of an OpenSandbox service, through its HTTP interface. */
export class OpenSandboxProvider extends ServiceProvider<OpenSandboxAnswer> {
  readonly name = "opensandbox";
  protected readonly title = "OpenSandbox";
  readonly #settings: OpenSandboxSettings;

  constructor(settings?: unknown, env: NodeJS.ProcessEnv = process.env) {
    const parsed = readSettings("opensandbox", openSandboxSettings, settings);
    const { connection } = parsed;
    const domain = connection.domain || env["OPEN_SANDBOX_DOMAIN"];
    if (!domain)
      throw new SandboxConfigError(
        "The sandbox provider 'opensandbox' needs connection.domain, or the variable OPEN_SANDBOX_DOMAIN.",
      );
    const key = connection.api_key || env["OPEN_SANDBOX_API_KEY"];
    super(parsed, {
      client: new ServiceClient(key ? { "open-sandbox-api-key": key } : {}, [key]),
      url: `${withProtocol(domain, connection.protocol)}/v1/sandboxes`,
      requestSeconds: connection.request_timeout_s,
    });
    this.#settings = parsed;
  }

  get isOffline(): boolean {
    return this.#settings.create.network === "deny";
  }

  async uploadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    const metadata = { name: "metadata", type: "application/json", text: JSON.stringify({ path: target }) };
    await this.client.upload(this.transferRequest(raw, "/files/upload", options), source, [metadata]);
  }

  endpoint({ raw }: Handle, port: number, { signal }: Cancellable = {}): Promise<SandboxEndpoint> {
    return this.#endpointOf(raw.id, port, signal);
  }

  async #endpointOf(id: string, port: number, signal: AbortSignal | undefined): Promise<SandboxEndpoint> {
    const { use_server_proxy: proxied, protocol } = this.#settings.connection;
    const path = `/endpoints/${port}?use_server_proxy=${proxied}`;
    const { endpoint, headers = {} } = (await this.ask("GET", id, path, signal)) as {
      endpoint: string;
      headers?: Record<string, string>;
    };
    return { endpoint: withProtocol(endpoint, protocol), headers };
  }

  protected async runCommand(raw: ServiceSandbox, ask: ServiceCommand): Promise<SandboxExecResult> {
    const { command, cwd, user, timeoutSeconds, request, signal } = ask;
    const events = new CommandEvents(this.#settings.exec.max_output_bytes);
    const json = {
      command,
      cwd,
      timeout: timeoutSeconds === null ? undefined : Math.ceil(timeoutSeconds * 1000),
      uid: user === undefined ? undefined : userNumber(user),
      envs: { ...raw.env, ...ask.env },
    };
    const startedAt = Date.now();
    try {
      await this.client.lines({ ...request, url: `${raw.toolbox.endpoint}/command`, json }, events.add);
      const code = events.code ?? (await this.#exitCode(raw, events.commandId, signal));
      // The service ends a command at its time limit and reports that only by the exit code.
      const isLate = timeoutSeconds !== null && Date.now() - startedAt >= timeoutSeconds * 1000;
      if (isLate && code !== 0) return timeoutResult(events.output(), timeoutSeconds);
      if (code === undefined) return sandboxFailure(withError(events));
      return commandResult({ ...events.output(), code });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.status === 408) return timeoutResult(events.output(), timeoutSeconds);
      return sandboxFailure({ ...events.output(), stderr: error.message });
    }
  }

  /** Asks the service for an exit code that was not in the stream. */
  async #exitCode(
    { toolbox }: ServiceSandbox,
    commandId: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<number | undefined> {
    if (commandId === undefined) return undefined;
    const { exit_code: code } = (await this.client.json({
      method: "GET",
      url: `${toolbox.endpoint}/command/status/${encodeURIComponent(commandId)}`,
      headers: toolbox.headers,
      timeoutMs: this.#settings.connection.request_timeout_s * 1000,
      retries: retryBudget(this.#settings.operations),
      signal,
    })) as { exit_code?: number | null };
    return code ?? undefined;
  }

  protected stateOf({ status }: OpenSandboxAnswer): ServiceState {
    const { state, message, reason } = status ?? {};
    return { status: STATUSES[state ?? ""] ?? "unknown", state, reason: message ?? reason };
  }

  protected findToolbox(
    id: string,
    _answer: OpenSandboxAnswer,
    signal: AbortSignal | undefined,
  ): Promise<SandboxEndpoint> {
    return this.#endpointOf(id, TOOLBOX_PORT, signal);
  }

  protected creation(spec: SandboxSpec): Record<string, unknown> {
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
    return {
      image: spec.image === undefined ? undefined : { uri: spec.image },
      snapshotId,
      timeout: spec.ttl_s === undefined ? undefined : Math.max(SHORTEST_LIFE_SECONDS, Math.ceil(spec.ttl_s)),
      resourceLimits: {
        cpu: `${Math.ceil(cpu * 1000)}m`,
        memory: `${memory}Mi`,
        "ephemeral-storage": disk === undefined ? undefined : `${disk}Gi`,
        gpu: gpu ? String(gpu) : undefined,
      },
      entrypoint: spec.entrypoint ?? (spec.image === undefined ? undefined : KEEP_ALIVE),
      env: spec.env,
      metadata: labelsOf(spec.metadata, attribution),
      networkPolicy: policy ?? denied,
      extensions,
      volumes,
    };
  }
}

/** An address without a trailing slash; the protocol is added if the address has none. */
function withProtocol(address: string, protocol: string): string {
  const url = /^https?:\/\//.test(address) ? address : `${protocol}://${address}`;
  return url.replace(/\/+$/, "");
}

function userNumber(user: string | number): number {
  if (user === "root") return 0;
  const number = Number(user);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new SandboxSpecError(
    `The provider 'opensandbox' accepts only numeric users and root, not '${user}'.`,
  );
}

/** Metadata becomes labels: attribution gets a prefix, and characters that labels cannot have are replaced. */
function labelsOf(
  metadata: Readonly<Record<string, string>>,
  { enabled, key_prefix: prefix }: OpenSandboxSettings["attribution"],
): Record<string, string> {
  const slashed = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return Object.fromEntries(
    Object.entries(metadata)
      .filter(([key]) => enabled || !ATTRIBUTION.has(key))
      .map(([key, value]) => [ATTRIBUTION.has(key) ? `${slashed}${key}` : key, labelValue(value)]),
  );
}

export function labelValue(value: string): string {
  const allowed = value.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, MAX_LABEL_CHARACTERS);
  return allowed.replace(/^[^A-Za-z0-9]+/, "").replace(/[^A-Za-z0-9]+$/, "");
}

/** One event of a command in the stream of the toolbox: a JSON object per line, with or without `data:`. */
interface CommandEvent {
  type?: string;
  text?: string;
  error?: { ename?: string; evalue?: string };
}

/** Collects the events of one command. */
class CommandEvents {
  readonly #stdout: OutputBuffer;
  readonly #stderr: OutputBuffer;
  commandId: string | undefined;
  error: string | undefined;
  #isComplete = false;

  constructor(limit: number) {
    this.#stdout = new OutputBuffer(limit);
    this.#stderr = new OutputBuffer(limit);
  }

  readonly add = (line: string): void => {
    const text = line.replace(/^data:\s*/, "").trim();
    if (!text.startsWith("{")) return;
    const event = JSON.parse(text) as CommandEvent;
    if (event.type === "init") this.commandId = event.text;
    if (event.type === "stdout") this.#stdout.add(Buffer.from(event.text ?? ""));
    if (event.type === "stderr") this.#stderr.add(Buffer.from(event.text ?? ""));
    if (event.type === "execution_complete") this.#isComplete = true;
    if (event.type === "error") this.error = event.error?.evalue ?? event.error?.ename ?? "";
  };

  output(): { stdout: string; stderr: string; truncated: boolean } {
    const truncated = this.#stdout.truncated || this.#stderr.truncated;
    return { stdout: this.#stdout.text(), stderr: this.#stderr.text(), truncated };
  }

  /** From an error such as `exit status 3`; 0 for a complete command without an error. */
  get code(): number | undefined {
    if (this.error === undefined) return this.#isComplete ? 0 : undefined;
    const digits = /(\d+)\s*$/.exec(this.error)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
}

function withError(events: CommandEvents): { stdout: string; stderr: string } {
  const { stdout, stderr } = events.output();
  return {
    stdout,
    stderr: `${stderr}${events.error ?? "The service did not report how the command ended."}`,
  };
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
