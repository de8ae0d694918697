import { randomUUID } from "node:crypto";
import { z } from "zod";
import { shellQuote } from "../../base/door.ts";
import { SandboxConfigError, SandboxSpecError } from "../errors.ts";
import { commandResult, sandboxFailure, timeoutResult } from "../exec-results.ts";
import type {
  Cancellable,
  SandboxEndpoint,
  SandboxExecResult,
  SandboxHandle,
  SandboxStatus,
} from "../provider.ts";
import { execSettings, probeSettings, readSettings } from "../provider-settings.ts";
import { checkEnvironment } from "../safe-text.ts";
import type { SandboxSpec } from "../spec.ts";
import { ServiceClient, ServiceError } from "./service-client.ts";
import {
  operationSettings,
  READY_MARK,
  type ServiceCommand,
  ServiceProvider,
  type ServiceSandbox,
  type ServiceState,
  serviceCreateSettings,
} from "./service-provider.ts";

const PUBLIC_SERVICE = "https://app.daytona.io/api";
const REQUEST_SECONDS = 60;

/** Settings of `sandbox: {daytona: …}`. Intervals are minutes, as in the API of the service. */
const daytonaSettings = z.strictObject({
  connection: z
    .looseObject({
      /** Default: `DAYTONA_API_KEY`. */
      api_key: z.string().nullish(),
      jwt_token: z.string().nullish(),
      organization_id: z.string().nullish(),
      /** Default: `DAYTONA_API_URL`, then the public service. */
      api_url: z.string().nullish(),
      server_url: z.string().nullish(),
      target: z.string().nullish(),
    })
    .prefault({}),
  create: z
    .looseObject({
      ...serviceCreateSettings,
      os_user: z.string().nullish(),
      public: z.boolean().nullish(),
      auto_stop_interval: z.number().int().nullish(),
      auto_archive_interval: z.number().int().nullish(),
      auto_delete_interval: z.number().int().nullish(),
      /** No network unless this is false. */
      network_block_all: z.boolean().nullable().default(true),
      network_allow_list: z.string().nullish(),
    })
    .prefault({}),
  exec: z.looseObject(execSettings).prefault({}),
  probe: probeSettings(READY_MARK),
  operations: operationSettings,
  batch: z.looseObject({}).optional(),
});

interface DaytonaAnswer {
  state?: string;
  errorReason?: string;
  toolboxProxyUrl?: string;
}

type Handle = SandboxHandle<ServiceSandbox>;

/** Sandboxes of a Daytona service, through its HTTP interface. */
export class DaytonaProvider extends ServiceProvider<DaytonaAnswer> {
  readonly name = "daytona";
  protected readonly title = "Daytona";
  readonly #settings: z.output<typeof daytonaSettings>;

  constructor(settings?: unknown, env: NodeJS.ProcessEnv = process.env) {
    const parsed = readSettings("daytona", daytonaSettings, settings);
    const { connection } = parsed;
    const key = connection.api_key || connection.jwt_token || env["DAYTONA_API_KEY"];
    if (!key)
      throw new SandboxConfigError(
        "The sandbox provider 'daytona' needs connection.api_key, or the variable DAYTONA_API_KEY.",
      );
    const api = connection.api_url || connection.server_url || env["DAYTONA_API_URL"] || PUBLIC_SERVICE;
    const organization = connection.organization_id;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(organization && { "x-daytona-organization-id": organization }),
    };
    super(parsed, {
      client: new ServiceClient(headers, [key]),
      url: `${api.replace(/\/+$/, "")}/sandbox`,
      requestSeconds: REQUEST_SECONDS,
    });
    this.#settings = parsed;
  }

  get isOffline(): boolean {
    return this.#settings.create.network_block_all === true;
  }

  async uploadFile({ raw }: Handle, source: string, target: string, options?: Cancellable): Promise<void> {
    const path = `/files/upload?path=${encodeURIComponent(target)}`;
    await this.client.upload(this.transferRequest(raw, path, options), source, []);
  }

  async endpoint({ raw }: Handle, port: number, { signal }: Cancellable = {}): Promise<SandboxEndpoint> {
    const answer = await this.ask("GET", raw.id, `/ports/${port}/preview-url`, signal);
    const { url, token } = answer as { url: string; token?: string };
    return { endpoint: url, headers: token ? { "x-daytona-preview-token": token } : {} };
  }

  /** The service returns both streams as one; a random marker separates stderr. */
  protected async runCommand(raw: ServiceSandbox, ask: ServiceCommand): Promise<SandboxExecResult> {
    const { timeoutSeconds, cwd } = ask;
    const env = { ...raw.env, ...ask.env };
    checkEnvironment(env);
    const mark = randomUUID();
    const json = {
      command: `sh -c ${shellQuote(script(ask, mark, env))}`,
      cwd,
      timeout: timeoutSeconds === null ? undefined : Math.ceil(timeoutSeconds),
    };
    try {
      const url = `${raw.toolbox.endpoint}/process/execute`;
      const answer = (await this.client.json({ ...ask.request, url, json })) as {
        exitCode?: number;
        result?: string;
      };
      const output = split(answer.result ?? "", mark, this.#settings.operations.max_output_bytes);
      return commandResult({ ...output, code: answer.exitCode ?? 0 });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const output = { stdout: "", stderr: error.message };
      return error.status === 408 ? timeoutResult(output, timeoutSeconds) : sandboxFailure(output);
    }
  }

  protected stateOf({ state, errorReason }: DaytonaAnswer): ServiceState {
    return { status: STATUSES[state ?? ""] ?? "unknown", state, reason: errorReason };
  }

  protected async findToolbox(
    id: string,
    { toolboxProxyUrl }: DaytonaAnswer,
  ): Promise<SandboxEndpoint | undefined> {
    if (!toolboxProxyUrl) return undefined;
    return { endpoint: `${toolboxProxyUrl.replace(/\/+$/, "")}/${id}`, headers: {} };
  }

  protected creation(spec: SandboxSpec): Record<string, unknown> {
    if (spec.image !== undefined && /\s/.test(spec.image))
      throw new SandboxSpecError(`'${spec.image}' cannot be the name of an image.`);
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
      // Counted from the last use; the service has no limit on the total lifetime.
      autoStopInterval:
        create.auto_stop_interval ?? (spec.ttl_s === undefined ? undefined : Math.ceil(spec.ttl_s / 60)),
      autoArchiveInterval: create.auto_archive_interval,
      autoDeleteInterval: create.auto_delete_interval ?? (spec.ttl_s === undefined ? undefined : 0),
      volumes,
    };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  }
}

/** Runs the command, then prints the marker and its stderr. */
function script(
  { command, user }: ServiceCommand,
  mark: string,
  env: Readonly<Record<string, string>>,
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
