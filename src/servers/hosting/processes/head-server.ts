import { STATUS_CODES } from "node:http";
import { type AppCall, Reply } from "../../calls/server-call.ts";
import type { RequestHandler } from "../app.ts";
import type { HostedInstance } from "../cohost.ts";
import { HttpEdge } from "../http-edge.ts";
import { PROBE_PATHS } from "../probes.ts";
import { sameText } from "../session-cookie.ts";

const REQUEST_TIMEOUT_MS = 10_000;
/** Probes of the head server that succeed only when all servers of the run answer. */
const READINESS = new Set(["/health", "/healthz", "/readyz"]);
const STARTING = { status: "starting" };
/** Header that proves that a process belongs to the run. */
export const HEAD_TOKEN_HEADER = "x-nemo-gym-token";
/** Environment variable that passes the token to the processes of the run. Users may set it to choose the token. */
export const HEAD_TOKEN_VARIABLE = "NEMO_GYM_HEAD_TOKEN";

/** One server as `/server_instances` shows it. */
export type InstanceRecord = ReturnType<typeof instanceRecord>;

export function instanceRecord(instance: HostedInstance, pid: number, startedAtMs: number) {
  const { name, implementation, type, host, port, code, config } = instance;
  return {
    config_path: name,
    dir_path: code.directory,
    entrypoint: String(config["entrypoint"] ?? ""),
    host,
    name: implementation,
    pid,
    port,
    process_name: name,
    server_type: type as string,
    start_time: startedAtMs / 1000,
    status: null,
    uptime_seconds: null,
    url: `http://${host}:${port}`,
  };
}

export interface HeadServerOptions {
  host: string;
  port: number;
  allowedHosts?: readonly string[];
  /** The config with secrets masked, for all callers. */
  publicYaml: string;
  /** The whole config, for callers with the token. */
  privateYaml: string;
  token: string;
}

/** Serves the addresses and the config of a run to clients. */
export interface HeadServer {
  readonly url: string;
  /** Called when every server has started. */
  publish(instances: InstanceRecord[]): void;
  close(): Promise<void>;
}

export async function startHeadServer(options: HeadServerOptions): Promise<HeadServer> {
  const { host, port, allowedHosts, publicYaml, privateYaml, token } = options;
  let published: InstanceRecord[] | undefined;
  const isReady = () => (published === undefined ? STARTING : { status: "ok" });
  const routes = new Map<string, (call: AppCall) => unknown>([
    ...PROBE_PATHS.map((path) => [path, READINESS.has(path) ? isReady : () => ({ status: "ok" })] as const),
    [
      "/global_config_dict_yaml",
      ({ headers }) => (sameText(token, headers[HEAD_TOKEN_HEADER]) ? privateYaml : publicYaml),
    ],
    ["/server_instances", () => published ?? []],
  ]);
  const handler: RequestHandler = {
    name: "head_server",
    async handle(call) {
      const answer = routes.get(call.path);
      const isRead = call.method === "GET" || call.method === "HEAD";
      const status = answer === undefined ? 404 : isRead ? 200 : 405;
      const body = status === 200 ? answer?.(call) : { detail: STATUS_CODES[status] };
      if (body === STARTING) return new Reply({ status: 503, body });
      return new Reply({ status, body });
    },
    unwritable: () => new Reply({ status: 500, body: { detail: STATUS_CODES[500] } }),
  };
  const edge = await HttpEdge.listen(handler, {
    host,
    port,
    allowedHosts,
    headersTimeoutMs: REQUEST_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  return {
    url: `http://${host}:${port}`,
    publish: (instances) => {
      published = instances;
    },
    close: () => edge.close(),
  };
}
