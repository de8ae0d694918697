import { readFile } from "node:fs/promises";
import path from "node:path";
import { cliAgentConfig, defineCliAgent, type Transcript } from "nemo-gym/agents";
import { convertResponsesToChat, laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { isObject } from "nemo-gym/python";
import { z } from "zod";

const config = cliAgentConfig.extend({
  concurrency: laxInt().default(32),
  /** The Python that has hermes-agent. */
  python: z.string().default("python3"),
  max_turns: laxInt().default(90),
  /** Null: all. */
  enabled_toolsets: z.array(z.string()).nullish(),
  disabled_toolsets: z.array(z.string()).nullish(),
  max_tokens: laxInt().nullish(),
  temperature: laxFloat().nullish(),
  terminal_backend: z.string().default("local"),
  terminal_timeout: laxInt().default(180),
  compression_enabled: laxBool().default(true),
  compression_threshold: laxFloat().default(0.85),
  delegation_max_iterations: laxInt().default(50),
  checkpoints_enabled: laxBool().default(false),
});

/** Hermes Agent, which is a Python package, on the model server's `/v1/chat/completions`. */
export default defineCliAgent({
  name: "HermesAgent",
  config,
  program: ({ python }) => python,
  async launch({ config: own, home, directory, model, baseUrl, params, mcp, timeoutMs }) {
    const { messages } = convertResponsesToChat({ ...params, model });
    const request = {
      ...splitMessages(messages, own.system_prompt),
      temperature: own.temperature ?? params.temperature ?? null,
      // Five seconds, or a tenth of a short limit, are left to end the conversation.
      deadline: Math.max(timeoutMs * 0.9, timeoutMs - 5_000) / 1000,
      agent: {
        base_url: `${baseUrl}/v1`,
        api_key: "EMPTY",
        provider: "custom",
        model,
        max_iterations: own.max_turns,
        max_tokens: own.max_tokens ?? params.max_output_tokens ?? null,
        enabled_toolsets: own.enabled_toolsets ?? null,
        disabled_toolsets: own.disabled_toolsets ?? null,
        checkpoints_enabled: own.checkpoints_enabled,
        quiet_mode: true,
        skip_context_files: true,
        skip_memory: true,
      },
    };
    const settings = {
      terminal: { backend: own.terminal_backend, timeout: own.terminal_timeout },
      compression: { enabled: own.compression_enabled, threshold: own.compression_threshold },
      delegation: { max_iterations: own.delegation_max_iterations },
      ...(mcp !== undefined && { mcp_servers: { [mcp.name]: { url: mcp.url, headers: mcp.headers } } }),
    };
    return {
      args: [`${home}/run_hermes.py`, `${home}/request.json`, ...own.extra_args],
      env: { HERMES_HOME: `${home}/.hermes`, HERMES_YOLO_MODE: "1", PYTHONDONTWRITEBYTECODE: "1" },
      files: {
        "run_hermes.py": await readFile(path.join(directory, "run_hermes.py"), "utf8"),
        "request.json": JSON.stringify(request),
        // JSON is YAML.
        ".hermes/config.yaml": JSON.stringify(settings),
      },
    };
  },
  read: readEvent,
});

type Message = { role: string; content?: unknown };

/** The prompt is the last message if it is the user's; a leading system message is the system prompt. */
export function splitMessages<M extends Message>(
  messages: readonly M[],
  configured?: string | null,
): { prompt: string; history: M[]; system: string | null } {
  const history = [...messages];
  const leading = history[0]?.role === "system" ? textOf(history.shift()?.content) : undefined;
  const prompt = history.at(-1)?.role === "user" ? textOf(history.pop()?.content) : "";
  return { prompt, history, system: configured ?? leading ?? null };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  return parts.flatMap(({ text }) => (typeof text === "string" ? text : [])).join("");
}

const message = z.looseObject({
  role: z.string(),
  content: z.unknown(),
  reasoning: z.string().nullish(),
  tool_call_id: z.string().default(""),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        function: z
          .looseObject({ name: z.string().default(""), arguments: z.string().default("") })
          .optional(),
      }),
    )
    .nullish(),
});
const TOKENS = ["prompt_token_ids", "generation_token_ids", "generation_log_probs"];

/** Adds a message of the conversation, or its end, to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] === "end") {
    if (event["interrupted"] === true) transcript.incompleteReason = "timeout";
    else if (event["completed"] === false) transcript.incompleteReason = "max_turns";
    if (event["failed"] === true) transcript.errors.push(String(event["error"] ?? event["turn_exit_reason"]));
    return;
  }
  const parsed = message.safeParse(event["message"]);
  if (!parsed.success) return;
  const { role, content, reasoning, tool_call_id, tool_calls } = parsed.data;
  if (role === "tool") transcript.output(tool_call_id, textOf(content));
  if (role !== "assistant") return;
  if (reasoning != null) transcript.reasoning(reasoning);
  const tokens = TOKENS.flatMap((key) => (Array.isArray(parsed.data[key]) ? [[key, parsed.data[key]]] : []));
  transcript.turn(textOf(content), Object.fromEntries(tokens));
  for (const { id, function: called } of tool_calls ?? [])
    if (called !== undefined) transcript.call(id, called.name, called.arguments, undefined);
}
