import { GymError } from "../../../base/errors.ts";
import { failure } from "../../../base/failures.ts";
import { ServerCallError } from "../../calls/errors.ts";
import { ReceivedReply } from "../../calls/run-client.ts";
import type { CallOptions, ServerClient, ServerReply } from "../../calls/server-client.ts";
import { ServerHttp } from "../../calls/server-http.ts";
import type { AgentSession } from "./agent-sessions.ts";
import type { AgentSeed, ToolAccess } from "./schemas.ts";

/** The tools of a session of an agent that calls tools over HTTP: at most one grant, no MCP server and no sandbox. */
export function directHttpSession(given: readonly ToolAccess[], seed: AgentSeed): readonly ToolAccess[] {
  const own = new Map([...given, ...seed.tool_accesses].map((access) => [access.name, access]));
  const accesses = [...own.values()];
  if (seed.sandbox_access) throw unsupported("a sandbox");
  if (accesses.some(({ kind, required }) => kind === "mcp" && required)) throw unsupported("an MCP server");
  if (accesses.filter(({ kind }) => kind === "direct_http").length > 1)
    throw unsupported("several direct_http accesses");
  return accesses;
}

function unsupported(what: string): GymError {
  return new GymError("AGENT_SESSION", `This agent cannot use ${what} in a session.`);
}

/** One client for the grants of all sessions, because its connections are reused. */
let http: ServerHttp | undefined;

/** Calls the tools that a session grants, instead of those of a server of the run. */
export function grantedTools({ accesses }: AgentSession): ServerClient {
  const grant = accesses.find((access) => access.kind === "direct_http");
  const base = grant && new URL(grant.base_url);
  const send = async (method: string, path: string, body: unknown, options: CallOptions = {}) => {
    if (!base) throw new GymError("AGENT_SESSION", "The session grants no tools, but the model called one.");
    http ??= new ServerHttp();
    const request = {
      method,
      path: base.pathname.replace(/\/$/, "") + path,
      body: body === undefined ? undefined : JSON.stringify(body),
      cookies: options.cookies,
      headers: { ...grant?.headers, ...options.headers },
      signal: options.signal,
    };
    try {
      const { status, text, cookies } = await http.request(base.origin, request);
      return new ReceivedReply({ status, cookies, raw: text });
    } catch (error) {
      options.signal?.throwIfAborted();
      const message = `the tools at ${base.origin} did not answer: ${(error as Error).message}`;
      throw new ServerCallError(grant?.name ?? "", undefined, failure("connection", message), {
        cause: error,
      });
    }
  };
  return {
    post: (_server, path, body, options): Promise<ServerReply> => send("POST", path, body ?? null, options),
    get: (_server, path, options): Promise<ServerReply> => send("GET", path, undefined, options),
    baseUrl: () => grant?.base_url ?? "",
  };
}
