import { defineResourcesServer, errorMessage, type JsonObject } from "nemo-gym";
import { laxBool, laxFloat } from "nemo-gym/openai";
import { request } from "undici";
import { z } from "zod";
import { EnvironmentError, EnvironmentSession, type Observation } from "./environment-session.ts";

const settings = z.record(z.string(), z.unknown()).default({});
const Config = z.object({
  /** The address of a running OpenEnv server. */
  base_url: z.url({ protocol: /^(https?|wss?)$/ }),
  /** Arguments of every reset; arguments of the row take precedence. */
  reset_kwargs: settings,
  /** Whether the environment offers tools; otherwise the model gets `step` with the fields of an action. */
  is_mcp: laxBool().default(false),
  /** Time limit of one response of the environment, in seconds. */
  timeout: laxFloat().default(60),
});

interface Episode {
  environment: EnvironmentSession;
  reward: number;
  done: boolean;
  /** The observation of `reset`. */
  first: JsonObject;
}
interface OfferedTool {
  name: string;
  description: string;
  input_schema: JsonObject;
}

const NO_SESSION = { error: "No active session. Call /seed_session first.", result: null };
const ENDED = { error: "Episode has ended.", result: null };

/** An environment behind an OpenEnv server. Each rollout is one episode; the reward is the sum over its steps. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({ reset_kwargs: settings }),
  echo: [],
  start: ({ config }) => ({ actionSchema: askedOnce(() => actionSchema(config.base_url)) }),
  async session({ row, config, signal }): Promise<{ episode: Episode | undefined }> {
    const environment = await EnvironmentSession.open(config.base_url, config.timeout * 1000, signal);
    try {
      const kwargs = { ...config.reset_kwargs, ...row.reset_kwargs };
      const { observation, reward, done } = await environment.reset(kwargs);
      return { episode: { environment, reward: reward ?? 0, done, first: observation } };
    } catch (error) {
      environment.close();
      throw error;
    }
  },
  unseeded: () => ({ episode: undefined }),
  closeSession: ({ session }) => session.episode?.environment.close(),
  /** The observation of `reset` for the model, and the tools of the environment for rows without tools. */
  async seedReply({ session, config, state, body }) {
    const params = body["responses_create_params"] as { tools?: unknown } | undefined;
    if (params === undefined) return {};
    const obs = shown(session.episode);
    if (params.tools !== undefined) return obs;
    const tools = config.is_mcp ? await toolsOf(session.episode) : stepTools(await state.actionSchema());
    return { ...obs, tools };
  },
  fallbackTool: {
    async run({ name, input, session, config }) {
      const { episode } = session;
      if (episode === undefined) return NO_SESSION;
      try {
        if (name === "state" && !config.is_mcp) return await episode.environment.state();
        if (name !== "step" && !config.is_mcp) return { error: `Unknown tool: ${name}`, result: null };
        if (episode.done) return ENDED;
        const call = { type: "call_tool", tool_name: name, arguments: input };
        const said = await episode.environment.step((config.is_mcp ? call : input) as JsonObject);
        episode.reward += said.reward ?? 0;
        episode.done = said.done;
        return config.is_mcp
          ? toolResult(said)
          : { ...said.observation, reward: said.reward, done: said.done };
      } catch (error) {
        if (error instanceof EnvironmentError) return { error: errorMessage(error), result: null };
        throw error;
      }
    },
  },
  verify({ session }) {
    const { episode } = session;
    session.episode = undefined;
    episode?.environment.close();
    return { reward: episode?.reward ?? 0 };
  },
  reverifyMode: "unsupported",
});

/** The observation of `reset` as a message: the rules, the board or the question may be only there. */
function shown(episode: Episode | undefined): JsonObject {
  const entries = Object.entries(episode?.first ?? {}).filter(
    ([key, value]) => value !== null && !(key === "metadata" && Object.keys(value as object).length === 0),
  );
  if (entries.length === 0) return {};
  const content = `The environment shows:\n${JSON.stringify(Object.fromEntries(entries))}`;
  return { obs: [{ role: "user", content }] };
}

function toolResult({ observation }: Observation): JsonObject {
  const { result = null, error = null } = observation;
  return { result, error };
}

async function toolsOf(episode: Episode | undefined): Promise<object[]> {
  const listed = await episode?.environment.step({ type: "list_tools" });
  const tools = (listed?.observation["tools"] ?? []) as OfferedTool[];
  return tools.map(({ name, description, input_schema }) => ({
    type: "function",
    name,
    description,
    parameters: input_schema,
    strict: false,
  }));
}

function stepTools(action: JsonObject): object[] {
  const { metadata: _, ...properties } = (action["properties"] ?? {}) as JsonObject;
  const nothing = { type: "object", properties: {} };
  return [
    {
      type: "function",
      name: "step",
      description: `Act in the environment. ${action["description"] ?? ""}`.trim(),
      parameters: { ...action, properties },
      strict: false,
    },
    {
      type: "function",
      name: "state",
      description: "The state of the environment.",
      parameters: nothing,
      strict: false,
    },
  ];
}

async function actionSchema(baseUrl: string): Promise<JsonObject> {
  const url = `${baseUrl.replace(/^ws/, "http").replace(/\/$/, "")}/schema`;
  const { statusCode, body } = await request(url);
  if (statusCode !== 200) throw new Error(`${url} answered with ${statusCode}`);
  return ((await body.json()) as { action: JsonObject }).action;
}

/** Asks once and caches the response; a server that did not respond is asked again. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
