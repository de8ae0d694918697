import { randomBytes } from "node:crypto";
import { HttpError } from "../../../base/door.ts";
import { GymError } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { Deadline } from "../../../base/transport/light-door.ts";
import { stripMcpPrefix } from "../../../wire/door.ts";
import { parseData } from "../../../wire/stream/door.ts";
import { Reply } from "../../calls/server-call.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { callLimits } from "../../definitions/agent-config.ts";
import type { ResourcesServerDefinition } from "../../definitions/define-resources.ts";
import type { AppParts, Handler, RouteCall } from "../app.ts";
import type { DeclaredTool } from "../apps/check-rows.ts";
import { jsonSchemaOf } from "../apps/openapi.ts";
import { MalformedBody } from "../body.ts";
import { mapError } from "../error-mapper.ts";
import { type McpToken, readMcpToken, signMcpToken } from "./mcp-token.ts";

/** Header that identifies the session of an MCP call. */
const TOKEN_HEADER = "x-nemo-gym-session-token";
/** Headers of the protocol itself. */
const MCP_HEADERS = ["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"];
const RESERVED = new Set([
  "verify",
  "seed_session",
  "close_session",
  "aggregate_metrics",
  "check_rows",
  "mcp",
]);
const TOOL_NAME = /^[A-Za-z0-9_-]+$/;
const ANY_OBJECT = { type: "object", additionalProperties: true };

interface McpTool {
  name: string;
  description?: string;
  inputSchema: JsonObject;
  call: Handler;
}

interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: JsonObject;
  isError?: boolean;
}

/** Offers the tools of a resources server to MCP clients at `/mcp`, in the session that `/seed_session` opened. */
export class McpExposure {
  readonly #parts: AppParts;
  readonly #options: ResourcesServerDefinition["options"];
  readonly #tools: Map<string, McpTool>;
  /** Known only to this server: with the secret, a client could sign a token for more than its `allowedTools`. */
  readonly #secret: string;
  /** Time limit of a tool. MCP clients call tools without an agent that would limit them. */
  readonly #limitMs: number | null;

  constructor(
    parts: AppParts,
    options: ResourcesServerDefinition["options"],
    { config, globalConfig }: Pick<ServerContext<unknown>, "config" | "globalConfig">,
    secret: string = randomBytes(32).toString("base64url"),
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#limitMs = callLimits(globalConfig).toolCallMs;
    this.#secret = secret;
    this.#tools = this.#harvest(config);
  }

  /** Adds the route and wraps seeding (token in the reply) and verification (tool names as the model used them). */
  install(): void {
    const { post } = this.#parts as { post: Record<string, Handler> };
    const { "/seed_session": seed, "/verify": verify } = post;
    if (!seed || !verify)
      throw mcpRejection(this.#parts.name, "/mcp", "the server has no /seed_session or no /verify");
    post["/seed_session"] = async (call) => {
      const reply = (await seed(call)) as JsonObject;
      if ("mcp" in reply) return reply;
      if (Object.hasOwn(reply, "resources_tools"))
        return { ...reply, resources_tools: this.#connection(call) };
      return { ...reply, mcp: this.#connection(call) };
    };
    post["/verify"] = async (call) => {
      const { body, restored } = stripToolNames(call.body, this.#parts.name);
      const reply = (await verify({ ...call, body })) as JsonObject;
      return restored.size === 0 ? reply : restoreToolNames(reply, restored);
    };
    post["/mcp"] = (call) => this.#serve(call);
    this.#parts.sessionOf = (headers) => {
      const token = this.#token(headers);
      return typeof token === "object" ? token.sid : undefined;
    };
    this.#parts.takesMalformed = (path) => path === "/mcp" || path.startsWith("/mcp/");
    this.#parts.mounts = [...(this.#parts.mounts ?? []), "/mcp"];
    if (this.#parts.fallback && !this.#options.fallbackTool?.list) {
      this.#parts.log.warn(
        "fallbackTool has no `list`: the tools behind it cannot be called over MCP, and rollouts that need them will fail",
      );
    }
  }

  #connection(call: RouteCall): JsonObject {
    const allowed = this.#options.allowedTools?.(call.body as JsonObject) ?? null;
    const token = signMcpToken(this.#secret, { sid: call.sessionId, tools: allowed && [...allowed] });
    return {
      server_name: this.#parts.name,
      url_path: "/mcp",
      transport: "http",
      headers: { "X-NeMo-Gym-Session-Token": token },
    };
  }

  #harvest(config: unknown): Map<string, McpTool> {
    const tools = new Map<string, McpTool>();
    const add = (tool: McpTool) => {
      const { name } = tool;
      const reject = (reason: string) => mcpRejection(this.#parts.name, `/${name}`, reason);
      if (!TOOL_NAME.test(name)) throw reject("MCP tool names are letters, digits, _ and -");
      if (RESERVED.has(name)) throw reject("the name is reserved");
      if (tools.has(name)) throw reject("two tools have this name");
      tools.set(name, tool);
    };
    for (const [name, tool] of Object.entries(this.#options.tools ?? {})) {
      const { description, input, expose } = tool as DeclaredTool;
      const call = this.#parts.post[`/${name}`];
      if (expose === false || !call) continue;
      add({
        name,
        ...(description && { description }),
        inputSchema: input ? jsonSchemaOf(input) : ANY_OBJECT,
        call,
      });
    }
    const { fallback } = this.#parts;
    for (const tool of (fallback && this.#options.fallbackTool?.list?.(config)) || []) {
      if (fallback) add({ ...tool, call: (call) => fallback({ ...call, path: `/${tool.name}` }) });
    }
    return tools;
  }

  async #serve(call: RouteCall): Promise<Reply> {
    const rejection = rpcRejection(call.body);
    if (rejection) return rejection;
    // Loaded on first use, because most servers never use MCP.
    const { Server, WebStandardStreamableHTTPServerTransport } = await import("@modelcontextprotocol/server");
    const token = this.#token(call.headers);
    const server = new Server({ name: this.#parts.name, version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: this.#list(token) }) as never);
    server.setRequestHandler(
      "tools/call",
      async ({ params }) => (await this.#call(params.name, params.arguments ?? {}, token, call)) as never,
    );
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const headers = new Headers({
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      });
      for (const name of MCP_HEADERS) {
        const value = call.headers[name];
        if (typeof value === "string") headers.set(name, value);
      }
      const request = new Request("http://localhost/mcp", { method: "POST", headers, body: "{}" });
      const response = await transport.handleRequest(request, { parsedBody: call.body });
      return new Reply({ status: response.status, raw: await response.text() });
    } finally {
      await server.close();
    }
  }

  #token(headers: RouteCall["headers"]): McpToken | "missing" | "invalid" {
    const header = headers[TOKEN_HEADER];
    if (typeof header !== "string" || header === "") return "missing";
    return readMcpToken(this.#secret, header) ?? "invalid";
  }

  #list(token: McpToken | "missing" | "invalid"): unknown[] {
    const allowed = typeof token === "object" ? token.tools : null;
    return [...this.#tools.values()]
      .filter((tool) => !allowed || allowed.includes(tool.name))
      .map(({ call: _call, ...tool }) => tool);
  }

  async #call(
    name: string,
    input: unknown,
    token: McpToken | "missing" | "invalid",
    call: RouteCall,
  ): Promise<ToolResult> {
    const tool = this.#tools.get(name);
    if (!tool) return failed(`Unknown tool '${name}'. Tools: ${[...this.#tools.keys()].sort().join(", ")}`);
    if (token === "missing")
      return failed("The X-NeMo-Gym-Session-Token header is missing: take it from /seed_session.");
    if (token === "invalid")
      return failed("The X-NeMo-Gym-Session-Token header is not a valid token of this server.");
    if (token.tools && !token.tools.includes(name))
      return failed(`Tool '${name}' is not allowed in this session.`);
    try {
      const result = await this.#withinLimit(tool, input, token.sid, call);
      const payload = result instanceof Reply ? payloadOf(result) : result;
      const text = typeof payload === "string" ? payload : JSON.stringify(payload ?? null);
      if (result instanceof Reply && (result.status < 200 || result.status >= 300))
        return failed(`HTTP ${result.status} from POST /${name}: ${text}`);
      return { content: [{ type: "text", text }], ...(isObject(payload) && { structuredContent: payload }) };
    } catch (error) {
      const { name: server, log } = this.#parts;
      const { status, body } = mapError(error, { server, path: `/${name}`, signal: call.signal, log });
      const detail = (body as { detail?: unknown } | null)?.detail ?? body;
      return failed(
        `HTTP ${status} from POST /${name}: ${typeof detail === "string" ? detail : JSON.stringify(detail)}`,
      );
    }
  }

  /** Rejects at the time limit, even if the tool ignores its signal. */
  async #withinLimit(tool: McpTool, input: unknown, sessionId: string, call: RouteCall): Promise<unknown> {
    const path = `/${tool.name}`;
    const limitMs = this.#limitMs;
    if (limitMs === null) return tool.call({ ...call, path, body: input, sessionId });
    const deadline = new Deadline(limitMs, call.signal);
    try {
      const { signal } = deadline;
      const own = { ...call, path, body: input, sessionId, signal };
      return await deadline.race(Promise.resolve(tool.call(own)));
    } catch (error) {
      if (!deadline.passed) throw error;
      const limit = `${limitMs / 1000} s (tool_call_timeout_seconds)`;
      throw new HttpError(504, `the tool did not answer within ${limit}`, { cause: error });
    } finally {
      deadline.clear();
    }
  }
}

/** The error of a server whose tools cannot be offered over MCP. It does not start. */
export function mcpRejection(server: string, route: string, reason: string): GymError {
  return new GymError(
    "MCP_EXPOSURE",
    `Server '${server}' cannot expose ${route} over MCP: ${reason}. Fix it, or remove expose_tools_over_mcp from its config.`,
  );
}

/** The value of a reply. Raw text that is not JSON is returned unchanged. */
function payloadOf({ raw, body }: Reply): unknown {
  return raw === undefined ? body : parseData(raw);
}

function failed(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Error codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The error for a body that is not a JSON-RPC message or a batch of them; undefined for a valid body. */
export function rpcRejection(body: unknown): Reply | undefined {
  if (body === undefined) return rejection(PARSE_ERROR, "Parse error: the body is empty");
  if (body instanceof MalformedBody) {
    const reason = body.detail.ctx?.["error"] ?? body.detail.msg;
    return rejection(PARSE_ERROR, `Parse error: ${reason}`);
  }
  if (!Array.isArray(body))
    return isMessage(body) ? undefined : rejection(INVALID_REQUEST, NO_MESSAGE, idOf(body));
  if (body.length === 0) return rejection(INVALID_REQUEST, "Invalid Request: the batch is empty");
  return body.every(isMessage) ? undefined : rejection(INVALID_REQUEST, NO_MESSAGE);
}

const NO_MESSAGE = "Invalid Request: this is not a JSON-RPC 2.0 message";

/** A request, a notification or the answer to one. */
function isMessage(value: unknown): boolean {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method, params } = value;
  if (id !== undefined && !isId(id)) return false;
  if (typeof method === "string") return params === undefined || isObject(params);
  return method === undefined && id !== undefined && (isObject(value["result"]) || isObject(value["error"]));
}

function idOf(value: unknown): unknown {
  return isObject(value) && isId(value["id"]) ? value["id"] : null;
}

function isId(value: unknown): boolean {
  return typeof value === "string" || Number.isInteger(value);
}

function rejection(code: number, message: string, id: unknown = null): Reply {
  return new Reply({ status: 400, body: { jsonrpc: "2.0", error: { code, message }, id } });
}

interface Item extends JsonObject {
  type?: unknown;
  name?: unknown;
  call_id?: unknown;
}

/**
 * MCP clients record calls as `mcp__<instance>__<tool>`; verifiers know the tool by its own name. Removes the prefix
 * on a copy and remembers which calls had it.
 */
export function stripToolNames(
  body: unknown,
  instance: string,
): { body: unknown; restored: Map<unknown, string> } {
  const restored = new Map<unknown, string>();
  const response = (body as { response?: JsonObject } | null)?.response;
  const output = response?.["output"];
  if (!Array.isArray(output)) return { body, restored };
  const stripped = (output as Item[]).map((item) => {
    if (item?.type !== "function_call" || typeof item.name !== "string") return item;
    const name = stripMcpPrefix(item.name, instance);
    if (name === item.name) return item;
    restored.set(item.call_id, item.name);
    return { ...item, name };
  });
  if (restored.size === 0) return { body, restored };
  return { body: { ...(body as JsonObject), response: { ...response, output: stripped } }, restored };
}

/** Restores the names that the client used in the echoed response. */
export function restoreToolNames(reply: JsonObject, restored: Map<unknown, string>): JsonObject {
  const response = reply["response"] as JsonObject | undefined;
  const output = response?.["output"];
  if (!Array.isArray(output)) return reply;
  const items = (output as Item[]).map((item) => {
    const name = item?.type === "function_call" ? restored.get(item.call_id) : undefined;
    return name === undefined ? item : { ...item, name };
  });
  return { ...reply, response: { ...response, output: items } };
}
