import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { errorMessage } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { parseCreateParams, parseResponse, ValidationError } from "../../../wire/schemas/door.ts";
import { type Cookies, mergeCookies, NO_COOKIES } from "../../calls/cookies.ts";
import { failureOf, isServerCallError } from "../../calls/errors.ts";
import { rolloutPrefix } from "../../calls/rollout-id.ts";
import type { ServerClient, ServerReply } from "../../calls/server-client.ts";
import { EpisodeError, type EpisodeScope } from "./run-episode.ts";
import {
  agentCloseReply,
  captureKey,
  type EpisodeRequest,
  type EpisodeStage,
  resourcesSeedReply,
  type ToolAccess,
} from "./schemas.ts";

export interface SingleTurnConfig {
  agent_server: { name: string };
  resources_server: { name: string };
  resources_tool_transports?: readonly ("direct_http" | "mcp")[];
}

/** The input of a task: what the agent is asked, and what the environment knows about it. */
interface TaskInput {
  params: JsonObject;
  data: JsonObject;
}

/** Reads `{responses_create_params, task_data}`. Other members of a flat row belong to `task_data`. */
export function readTaskInput(input: JsonObject): TaskInput {
  const { responses_create_params: params, task_data: given, ...flat } = input;
  parseCreateParams(params, ["body", "task", "task_input", "responses_create_params"]);
  if (given !== undefined && !isObject(given))
    throw invalid("task_data", "Input should be a valid dictionary", given);
  const data: JsonObject = { ...given };
  for (const [key, value] of Object.entries(flat)) {
    if (Object.hasOwn(data, key) && JSON.stringify(data[key]) !== JSON.stringify(value))
      throw invalid(key, `'${key}' has other values in task_data and beside it`, value);
    data[key] = value;
  }
  return { params: params as JsonObject, data };
}

function invalid(key: string, msg: string, input: unknown): ValidationError {
  return new ValidationError([{ type: "value_error", loc: ["body", "task", "task_input", key], msg, input }]);
}

/** Statuses after which another attempt may succeed. */
function isTransient(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** One activation of one agent: seed the environment, open a session of the agent, respond, close it, verify. */
export class SingleAgentTurn {
  readonly #client: ServerClient;
  readonly #config: SingleTurnConfig;
  readonly #request: EpisodeRequest;
  readonly #input: TaskInput;
  readonly #tokenCapture: boolean;
  readonly #resourcesSession = `resources-session-${hex()}`;
  readonly #agentSession = `agent-session-${hex()}`;
  #resourcesCookies: Cookies = NO_COOKIES;
  #agentCookies: Cookies = NO_COOKIES;
  #response: JsonObject | undefined;

  constructor(options: {
    client: ServerClient;
    config: SingleTurnConfig;
    request: EpisodeRequest;
    tokenCapture: boolean;
  }) {
    this.#client = options.client;
    this.#config = options.config;
    this.#request = options.request;
    this.#tokenCapture = options.tokenCapture;
    this.#input = readTaskInput(options.request.task.task_input);
  }

  async run({ signal, onCleanup }: EpisodeScope): Promise<JsonObject> {
    // Registered before the calls, so that a lost reply cannot leave a session open.
    let closesResources = true;
    let closesAgent = false;
    onCleanup(async (end) => {
      if (closesResources) await this.#closeResources(end);
    });
    onCleanup(async (end) => {
      if (closesAgent) await this.#closeAgent(end);
    });
    const { accesses, sandbox } = await this.#seedResources(signal);
    closesAgent = true;
    await this.#seedAgent(accesses, sandbox, signal);
    this.#response = await this.#respond(signal);
    const observations = await this.#closeAgent(signal);
    closesAgent = false;
    const result = await this.#verify(signal);
    await this.#closeResources(signal).then(
      () => {
        closesResources = false;
      },
      // A failure never undoes the verdict. The clean-up tries again.
      () => {},
    );
    return { ...result, ng_agent_observations: observations ?? null };
  }

  async #seedResources(signal: AbortSignal): Promise<{ accesses: ToolAccess[]; sandbox: unknown }> {
    const { episode_id, task } = this.#request;
    const reply = await this.#call(signal, "seed", this.#config.resources_server.name, "/seed_session", {
      resources_session_id: this.#resourcesSession,
      episode_id,
      task_id: task.task_id,
      task_data: this.#input.data,
    });
    this.#resourcesCookies = reply.cookies;
    const seeded = parsed(resourcesSeedReply, reply, "seed");
    if (Object.keys(reply.cookies).length === 0)
      throw new EpisodeError("seed", "Resources seed did not establish a session cookie", true);
    if (seeded.resources_session_id !== this.#resourcesSession)
      throw new EpisodeError("seed", "Resources seed returned a different resources_session_id", true);
    return { accesses: this.#accesses(seeded), sandbox: seeded.sandbox_access ?? null };
  }

  #accesses({ resources_tools: tools }: z.output<typeof resourcesSeedReply>): ToolAccess[] {
    const { name } = this.#config.resources_server;
    const base = this.#client.baseUrl(name);
    return (this.#config.resources_tool_transports ?? []).map((transport): ToolAccess => {
      if (transport === "direct_http")
        return {
          kind: "direct_http",
          name: `${name}.direct_http`,
          required: true,
          base_url: `${base}/`,
          cookies: { ...this.#resourcesCookies },
          headers: {},
        };
      if (!tools)
        throw new EpisodeError("seed", "Resources seed did not return requested MCP metadata", true);
      if (tools.transport !== "http")
        throw new EpisodeError("seed", `Unsupported resources MCP transport: ${tools.transport}`, true);
      const url = base + tools.url_path;
      return {
        kind: "mcp",
        name: tools.server_name,
        required: true,
        connection: { transport: "streamable_http", url, headers: tools.headers },
      };
    });
  }

  async #seedAgent(accesses: readonly ToolAccess[], sandbox: unknown, signal: AbortSignal): Promise<void> {
    const { episode_id, task } = this.#request;
    const reply = await this.#call(signal, "agent", this.#config.agent_server.name, "/v1/agent_sessions", {
      agent_session_id: this.#agentSession,
      episode_id,
      task_id: task.task_id,
      tool_accesses: accesses,
      sandbox_access: sandbox,
    });
    if ((jsonOf(reply, "agent") as JsonObject | null)?.["agent_session_id"] !== this.#agentSession)
      throw new EpisodeError("agent", "Agent seed returned a different agent_session_id", true);
    this.#agentCookies = reply.cookies;
  }

  async #respond(signal: AbortSignal): Promise<JsonObject> {
    const key = captureKey(this.#request.episode_id);
    const path = `${rolloutPrefix(key, { tokenCapture: this.#tokenCapture })}/v1/responses`;
    const { name } = this.#config.agent_server;
    const reply = await this.#call(signal, "agent", name, path, this.#input.params, this.#agentCookies);
    this.#agentCookies = mergeCookies(this.#agentCookies, reply.cookies);
    const body = jsonOf(reply, "agent");
    try {
      parseResponse(body, ["response"]);
    } catch (error) {
      throw new EpisodeError("agent", errorMessage(error), true);
    }
    return body as JsonObject;
  }

  async #closeAgent(signal: AbortSignal): Promise<unknown> {
    const body = { agent_session_id: this.#agentSession, episode_id: this.#request.episode_id };
    const { name } = this.#config.agent_server;
    const path = "/v1/agent_sessions/close";
    const reply = await this.#call(signal, "cleanup", name, path, body, this.#agentCookies);
    const closed = parsed(agentCloseReply, reply, "cleanup", this.#response);
    if (closed.agent_session_id !== this.#agentSession)
      throw new EpisodeError(
        "cleanup",
        "Agent close returned a different agent_session_id",
        true,
        this.#response,
      );
    if (closed.resources_cookies) this.#resourcesCookies = closed.resources_cookies;
    return closed.agent_observations;
  }

  async #verify(signal: AbortSignal): Promise<JsonObject> {
    const { name } = this.#config.resources_server;
    const body = {
      ...this.#input.data,
      responses_create_params: this.#input.params,
      response: this.#response,
    };
    const reply = await this.#call(signal, "verification", name, "/verify", body, this.#resourcesCookies);
    const verdict = jsonOf(reply, "verification", this.#response);
    if (!isObject(verdict) || typeof verdict["reward"] !== "number")
      throw new EpisodeError("verification", "The verdict has no reward", true, this.#response);
    const { responses_create_params: _params, ...result } = verdict;
    return result;
  }

  async #closeResources(signal: AbortSignal): Promise<void> {
    const body = { resources_session_id: this.#resourcesSession, episode_id: this.#request.episode_id };
    const { name } = this.#config.resources_server;
    await this.#call(signal, "cleanup", name, "/close_session", body, this.#resourcesCookies);
  }

  async #call(
    signal: AbortSignal,
    stage: EpisodeStage,
    server: string,
    path: string,
    body: JsonObject,
    cookies: Cookies = NO_COOKIES,
  ): Promise<ServerReply> {
    let reply: ServerReply;
    try {
      reply = await this.#client.post(server, path, body, { signal, cookies });
    } catch (error) {
      signal.throwIfAborted();
      const terminal = isServerCallError(error) && error.status !== undefined && !isTransient(error.status);
      throw new EpisodeError(stage, errorMessage(error), terminal, this.#response);
    }
    if (reply.ok) return reply;
    const { message } = failureOf(server, path, "run", reply);
    throw new EpisodeError(stage, message, !isTransient(reply.status), this.#response);
  }
}

function hex(): string {
  return randomUUID().replaceAll("-", "");
}

function jsonOf(reply: ServerReply, stage: EpisodeStage, partial?: unknown): unknown {
  try {
    return reply.json();
  } catch (error) {
    throw new EpisodeError(stage, `the answer is not JSON: ${errorMessage(error)}`, true, partial);
  }
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  reply: ServerReply,
  stage: EpisodeStage,
  partial?: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(jsonOf(reply, stage, partial));
  if (error) throw new EpisodeError(stage, `unexpected answer: ${error.message}`, true, partial);
  return data;
}
