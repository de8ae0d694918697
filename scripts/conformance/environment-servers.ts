import singleAgentTurn from "../../environment_servers/single_agent_turn/app.ts";
import singleAgentTurnLegacy from "../../environment_servers/single_agent_turn_legacy/app.ts";
import { describeKind } from "../../src/base/failures.ts";
import { isObject, type JsonObject } from "../../src/base/python/json/json-object.ts";
import { sleep } from "../../src/base/transport/deadline.ts";
import { generatedName, resultLabels } from "../../src/config/servers/environment-servers.ts";
import { Reply } from "../../src/servers/calls/server-call.ts";
import type { ServerDefinition } from "../../src/servers/definitions/definitions.ts";
import { createTestServer } from "../../src/testing/index.ts";
import { materializeTask } from "../../src/wire/door.ts";
import { difference, show } from "./difference.ts";
import { outputMessage, responseOf } from "./env/scripted-servers.ts";
import { goldenLines } from "./golden-lines.ts";
import type { Suite } from "./suite.ts";

/** What a scripted route does instead of its usual answer. */
interface Script {
  status?: number;
  error?: boolean;
  delay?: number;
  cookies?: Record<string, string>;
  body?: unknown;
  merge?: JsonObject;
}

interface EpisodeCase {
  config: JsonObject;
  script: Record<string, Script>;
  request: unknown;
  expected: { status: number; body: unknown; calls: JsonObject[] };
}

const kinds: Record<string, (golden: JsonObject) => string | undefined | Promise<string | undefined>> = {
  episode: (golden) => runEpisode(golden as unknown as EpisodeCase, singleAgentTurn),
  legacy_row: (golden) => runEpisode(golden as unknown as EpisodeCase, singleAgentTurnLegacy),
  generated_name: ({ agent, agent_type, expected }) =>
    difference(generatedName(String(agent), String(agent_type)), expected),
  run_labels: ({ agents, expected }) => {
    const given = Object.entries(agents as Record<string, string | null>);
    const labels = resultLabels(new Map(given.map(([server, agent]) => [server, agent ?? undefined])));
    return difference(Object.fromEntries(labels), expected);
  },
  materialize: ({ row, taskset, expected }) => {
    const isError = isObject(expected) && Object.hasOwn(expected, "error");
    try {
      const task = materializeTask(row as JsonObject, String(taskset));
      return isError ? `was accepted: ${show(task)}` : difference(task, expected);
    } catch (error) {
      return isError ? undefined : String(error);
    }
  },
  failure_kind: ({ name, expected }) => difference(describeKind(String(name)), expected),
};

/** Environment servers: episodes with scripted servers behind them, and the rules for names and rows. */
export const suite: Suite = async (file) =>
  (await goldenLines<JsonObject>(file)).map((golden) => ({
    id: String(golden["id"]),
    run: () => {
      const run = kinds[String(golden["kind"])];
      return run ? run(golden) : `unknown kind '${String(golden["kind"])}'`;
    },
  }));

async function runEpisode(golden: EpisodeCase, definition: ServerDefinition): Promise<string | undefined> {
  const calls: JsonObject[] = [];
  const scripted = (server: string) => async (path: string, body: unknown, cookies: object) => {
    calls.push({ server, path, cookies: { ...cookies }, body });
    const route = path.replace(/^\/ng-rollout\/[^/]+/, "");
    const script = golden.script[route] ?? {};
    if (script.delay !== undefined) await sleep(script.delay * 1000);
    if (script.error) throw new Error("the connection was refused");
    if (script.status !== undefined)
      return new Reply({ status: script.status, body: { detail: "scripted" } });
    const answer = usualAnswers[route]?.(body as JsonObject) ?? { body: {} };
    return new Reply({
      body: script.body ?? { ...(answer.body as object), ...script.merge },
      cookies: script.cookies ?? answer.cookies ?? {},
    });
  };
  const server = await createTestServer(definition, {
    name: "env1",
    config: {
      agent_server: { type: "responses_api_agents", name: "ag" },
      resources_server: { type: "resources_servers", name: "res" },
      cleanup_timeout_seconds: 5,
      ...golden.config,
    },
    servers: { ag: scripted("ag"), res: scripted("res") },
  });
  try {
    const { status, body } = await server.post("/run", golden.request);
    const { expected } = golden;
    if (status !== expected.status)
      return `expected the status ${expected.status}, got ${status} ${show(body)}`;
    if (expected.body !== null) {
      const found = difference(withoutParams(body), expected.body, "body", { matches });
      if (found !== undefined) return found;
    }
    return difference(calls, expected.calls, "calls", { matches });
  } finally {
    await server.close();
  }
}

/** The request is not part of the results of the vectors. */
function withoutParams(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { responses_create_params: _params, result, ...rest } = body;
  return result === undefined ? rest : { ...rest, result: withoutParams(result) };
}

const RESPONSE = responseOf([outputMessage("Hi")]);

const usualAnswers: Record<
  string,
  (body: JsonObject) => { body: unknown; cookies?: Record<string, string> }
> = {
  "/seed_session": ({ resources_session_id }) => ({
    body: { resources_session_id, resources_tools: null, sandbox_access: null },
    cookies: { session: "R1" },
  }),
  "/v1/agent_sessions": ({ agent_session_id }) => ({
    body: { agent_session_id },
    cookies: { session: "A1" },
  }),
  "/v1/responses": () => ({ body: RESPONSE }),
  "/v1/agent_sessions/close": ({ agent_session_id }) => ({
    body: { agent_session_id, agent_observations: null, resources_cookies: null },
  }),
  "/verify": ({ responses_create_params, response }) => ({
    body: {
      responses_create_params,
      response,
      reward: 1,
      mask_sample: false,
      failure_kind: null,
      failure_reason: null,
      extra: "kept",
    },
  }),
  "/close_session": ({ resources_session_id }) => ({ body: { resources_session_id } }),
};

/** Placeholders of the vectors: a response, any text, a random id, and the address of a server. */
function matches(actual: unknown, expected: unknown): boolean {
  if (expected === "<response>") return isObject(actual) && Array.isArray(actual["output"]);
  if (typeof expected !== "string" || typeof actual !== "string") return false;
  if (expected === "<text>") return actual !== "";
  if (expected.includes("<hex32>")) {
    const [before = "", after = ""] = expected.split("<hex32>");
    const id = actual.slice(before.length, actual.length - after.length);
    return actual.startsWith(before) && actual.endsWith(after) && /^[0-9a-f]{32}$/.test(id);
  }
  return actual.replace("http://res.invalid", "http://res.local:1") === expected;
}
