import { cliAgentConfig, defineCliAgent, type Transcript } from "nemo-gym/agents";
import { laxInt } from "nemo-gym/openai";
import { isObject } from "nemo-gym/python";
import { z } from "zod";
import { sessionRunner } from "./session-runner.ts";

const VERSION = "2026.8.1";
/** Tools that wait for a person, or act outside the work folder. */
const DENIED = [
  "ask_user",
  "automations",
  "browser",
  "canvas",
  "dashboard",
  "gateway",
  "message",
  "mobile_ui",
]
  .concat(["node_inference", "nodes", "openclaw", "portal", "secrets", "terminal", "transcripts", "tts"])
  .concat(["conversations_list", "conversations_send", "conversations_turn", "sessions_send"]);

const json = z.record(z.string(), z.unknown());

const config = cliAgentConfig.extend({
  concurrency: laxInt().default(32),
  openclaw_version: z.string().nullish(),
  openclaw_agent_id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*$/)
    .default("main"),
  thinking: z.string().default("off"),
  /** Merged into openclaw.json. */
  openclaw_config: json.default({}),
  context_window: laxInt().nullish(),
  max_output_tokens: laxInt().nullish(),
  /** The folder of the Node that runs the program. */
  node_bin_dir: z.string().nullish(),
});

/** OpenClaw on the model server's `/v1/chat/completions`. */
export default defineCliAgent({
  name: "OpenclawAgent",
  config,
  program: ({ openclaw_version, node_bin_dir }) => ({
    package: "openclaw",
    command: "openclaw",
    version: openclaw_version ?? VERSION,
    minNode: 22,
    nodeFolder: node_bin_dir,
  }),
  launch({ config: own, home, workspace, model, baseUrl, prompt, system, mcp, timeoutMs }) {
    const provider = {
      baseUrl: `${baseUrl}/v1`,
      apiKey: "EMPTY",
      api: "openai-completions",
      models: [
        {
          id: model,
          name: model,
          input: ["text"],
          ...(own.context_window != null && { contextWindow: own.context_window }),
          ...(own.max_output_tokens != null && { maxTokens: own.max_output_tokens }),
        },
      ],
    };
    const settings = merge(
      {
        agents: { defaults: { workspace, skipBootstrap: true, model: { primary: `nemo/${model}` } } },
        models: { mode: "replace" },
        tools: { profile: "coding", deny: DENIED },
      },
      own.openclaw_config,
      { models: { providers: { nemo: provider } } },
      mcp === undefined
        ? {}
        : {
            mcp: {
              servers: { [mcp.name]: { url: mcp.url, headers: mcp.headers, transport: "streamable-http" } },
            },
          },
    );
    return {
      runner: `${home}/session-runner.mjs`,
      args: [
        ...["agent", "--local", "--json", "--agent", own.openclaw_agent_id, "--session-id", "gym"],
        ...["--thinking", own.thinking, "--model", `nemo/${model}`],
        ...["--timeout", String(Math.ceil(timeoutMs / 1000)), "--message-file", `${home}/prompt.md`],
        ...own.extra_args,
      ],
      env: { OPENCLAW_NO_AUTO_UPDATE: "1", NO_COLOR: "1" },
      files: {
        "session-runner.mjs": sessionRunner,
        "prompt.md": system === undefined ? prompt : `${system}\n\n${prompt}`,
        ".openclaw/openclaw.json": JSON.stringify(settings),
      },
    };
  },
  read: readEvent,
});

type Json = Record<string, unknown>;

/** Objects are merged key by key; anything else is replaced by later values. */
function merge(...objects: Json[]): Json {
  const merged = new Map<string, unknown>();
  for (const [key, value] of objects.flatMap(Object.entries)) {
    const earlier = merged.get(key);
    merged.set(key, isObject(earlier) && isObject(value) ? merge(earlier, value) : value);
  }
  return Object.fromEntries(merged);
}

const message = z.looseObject({
  role: z.string(),
  content: z.array(
    z.looseObject({
      type: z.string().default(""),
      text: z.string().optional(),
      id: z.string().optional(),
      name: z.string().default(""),
      arguments: z.unknown().optional(),
    }),
  ),
  toolCallId: z.string().default(""),
  errorMessage: z.string().nullish(),
});

/** Adds one event of the session to the transcript. The last event is the output of the program. */
export function readEvent(event: Json, transcript: Transcript): void {
  if (event["type"] === "stdout") {
    readOutput(String(event["text"]), transcript);
    return;
  }
  const parsed = event["type"] === "message" ? message.safeParse(event["message"]) : undefined;
  if (!parsed?.success) return;
  const { role, content, toolCallId, errorMessage } = parsed.data;
  const text = content.flatMap((block) => block.text ?? []).join("\n");
  if (role === "toolResult") transcript.output(toolCallId, text);
  if (role !== "assistant") return;
  if (text.trim() !== "") transcript.message(text);
  for (const { type, id, name, arguments: input } of content)
    if (type === "toolCall") transcript.call(id, name, input ?? "", undefined);
  if (errorMessage) transcript.errors.push(errorMessage);
}

const result = z.looseObject({
  payloads: z.array(z.looseObject({ text: z.string().nullish() })).catch([]),
  meta: z
    .looseObject({
      finalAssistantVisibleText: z.string().nullish(),
      agentMeta: z
        .looseObject({
          usage: z
            .looseObject({
              input: z.number().default(0),
              output: z.number().default(0),
              cacheRead: z.number().default(0),
            })
            .optional(),
        })
        .optional(),
    })
    .nullish()
    .catch(undefined),
});

/** Reads the result at the end of the output: the usage and, if the session has no items, the answer. */
export function readOutput(stdout: string, transcript: Transcript): void {
  const parsed = result.safeParse(lastObject(stdout));
  if (!parsed.success) return;
  const { payloads, meta } = parsed.data;
  if (transcript.items.length === 0) {
    const texts = payloads.map(({ text }) => text?.trim() ?? "").filter((text) => text !== "");
    transcript.message(
      texts.length > 0 ? texts.join("\n\n") : (meta?.finalAssistantVisibleText?.trim() ?? ""),
    );
  }
  const usage = meta?.agentMeta?.usage;
  if (usage !== undefined)
    transcript.addUsage({
      inputTokens: usage.input + usage.cacheRead,
      outputTokens: usage.output,
      cachedTokens: usage.cacheRead,
    });
}

/** The JSON object that begins a line and ends the text. Warnings can come before it. */
function lastObject(text: string): unknown {
  for (const { index } of text.matchAll(/^\{/gm))
    try {
      return JSON.parse(text.slice(index));
    } catch {
      // A warning that begins with a brace.
    }
  return undefined;
}
