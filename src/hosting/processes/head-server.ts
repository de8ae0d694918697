import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { jsonRefusalOf } from "../../request-guard.ts";
import { ListenError, serverGuard } from "../http-edge.ts";

/** Header that proves that a process belongs to the run. */
export const HEAD_TOKEN_HEADER = "x-nemo-gym-token";
/** Environment variable that passes the token to the processes of the run. Users may set it to choose the token. */
export const HEAD_TOKEN_VARIABLE = "NEMO_GYM_HEAD_TOKEN";

/** One server as `/server_instances` shows it. */
export interface InstanceRecord {
  config_path: string;
  dir_path: string;
  entrypoint: string;
  host: string;
  name: string;
  pid: number;
  port: number;
  process_name: string;
  server_type: string;
  start_time: number;
  status: null;
  uptime_seconds: null;
  url: string;
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
export class HeadServer {
  #instances: InstanceRecord[] = [];
  readonly #server: Server;
  readonly url: string;

  private constructor(options: HeadServerOptions) {
    this.url = `http://${options.host}:${options.port}`;
    const routes = new Map<string, (request: IncomingMessage) => unknown>([
      ["/", () => ({ status: "ok" })],
      [
        "/global_config_dict_yaml",
        ({ headers }) =>
          isToken(headers[HEAD_TOKEN_HEADER], options.token) ? options.privateYaml : options.publicYaml,
      ],
      ["/server_instances", () => this.#instances],
    ]);
    const guard = serverGuard(options.host, options.allowedHosts);
    this.#server = createServer((request, response) => {
      const refusal = jsonRefusalOf(request.headers, guard);
      if (refusal) {
        response.writeHead(refusal.status, { "content-type": "application/json", connection: "close" });
        response.end(JSON.stringify({ detail: refusal.reason }));
        return;
      }
      const path = (request.url ?? "/").split("?")[0] ?? "/";
      const answer = routes.get(path);
      const isRead = request.method === "GET" || request.method === "HEAD";
      const status = answer === undefined ? 404 : isRead ? 200 : 405;
      const body = status === 200 ? answer?.(request) : { detail: STATUS_CODES[status] };
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
    this.#server.headersTimeout = 10_000;
    this.#server.requestTimeout = 10_000;
  }

  static async listen(options: HeadServerOptions): Promise<HeadServer> {
    const head = new HeadServer(options);
    await new Promise<void>((resolve, reject) => {
      head.#server.once("error", (error) =>
        reject(new ListenError("head_server", options.host, options.port, error)),
      );
      try {
        head.#server.listen(options.port, options.host, () => resolve());
      } catch (error) {
        reject(new ListenError("head_server", options.host, options.port, error));
      }
    });
    return head;
  }

  /** Called when every server has started. */
  publish(instances: InstanceRecord[]): void {
    this.#instances = instances;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

function isToken(given: string | string[] | undefined, token: string): boolean {
  if (typeof given !== "string" || given.length !== token.length) return false;
  return timingSafeEqual(Buffer.from(given, "latin1"), Buffer.from(token, "latin1"));
}
