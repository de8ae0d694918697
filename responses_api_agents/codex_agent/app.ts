import {
  cliAgentConfig,
  defineCliAgent,
  type HarnessRequest,
  promptArguments,
  type Transcript,
} from "nemo-gym/agents";
import { laxFloat, laxInt } from "nemo-gym/openai";
import { stringify } from "smol-toml";
import { z } from "zod";

const VERSION = "0.166.0";
const MCP_START_SECONDS = 60;

const config = cliAgentConfig.extend({
  concurrency: laxInt().default(32),
  timeout: laxFloat().default(600),
  codex_version: z.string().nullish(),
  sandbox_mode: z.enum(["read-only", "workspace-write", "danger-full-access"]).default("danger-full-access"),
  reasoning_effort: z.string().nullish(),
  stream_idle_timeout_ms: laxInt().nullish(),
  /** Merged over the generated config.toml. */
  extra_config: z.record(z.string(), z.unknown()).nullish(),
});

/** Codex on the model server's `/v1/responses`. */
export default defineCliAgent({
  name: "CodexAgent",
  config,
  program: ({ codex_version }) => ({
    package: "@openai/codex",
    command: "codex",
    version: codex_version ?? VERSION,
  }),
  launch(request) {
    const { home, workspace, skillsDirectory } = request;
    const { args: last, ...input } = promptArguments(request.prompt, { before: ["--"], piped: ["-"] });
    return {
      ...input,
      args: [
        ...["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--cd", workspace],
        ...request.config.extra_args,
        ...last,
      ],
      env: { CODEX_HOME: `${home}/.codex`, OPENAI_API_KEY: "local" },
      files: { ".codex/config.toml": stringify(configOf(request)) },
      ...(skillsDirectory !== undefined && { copies: { ".codex/skills": skillsDirectory } }),
    };
  },
  read: readEvent,
});

function configOf(request: HarnessRequest<z.output<typeof config>>): Record<string, unknown> {
  const { config: own, model, mcp, system, timeoutMs } = request;
  const generated = {
    model,
    model_provider: "gym",
    approval_policy: "never",
    sandbox_mode: own.sandbox_mode,
    web_search: "disabled",
    check_for_update_on_startup: false,
    ...(own.reasoning_effort && { model_reasoning_effort: own.reasoning_effort }),
    ...(system !== undefined && { developer_instructions: system }),
    analytics: { enabled: false },
    history: { persistence: "none" },
    features: { multi_agent: false, code_mode: false },
    model_providers: {
      gym: {
        name: "gym",
        base_url: `${request.baseUrl}/v1`,
        env_key: "OPENAI_API_KEY",
        wire_api: "responses",
        stream_idle_timeout_ms: own.stream_idle_timeout_ms ?? timeoutMs,
      },
    },
  };
  const merged = merge(generated, own.extra_config ?? {});
  if (mcp === undefined) return merged;
  // Codex would continue without the tools of a server that responds slowly; its default of 10 s is too short on a busy machine.
  const start = { startup_timeout_sec: MCP_START_SECONDS, required: true };
  const connection = { url: mcp.url, http_headers: mcp.headers, ...start };
  return merge(merged, { mcp_servers: { [mcp.name]: connection } });
}

function merge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const earlier = merged[key];
    merged[key] = isTable(earlier) && isTable(value) ? merge(earlier, value) : value;
  }
  return merged;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const item = z.looseObject({ id: z.string().default(""), type: z.string(), text: z.string().default("") });
const usage = z.looseObject({
  input_tokens: z.number().default(0),
  output_tokens: z.number().default(0),
  cached_input_tokens: z.number().nullish(),
  reasoning_output_tokens: z.number().nullish(),
});

/** Adds one event of the program to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] === "item.completed") {
    const parsed = item.safeParse(event["item"]);
    if (parsed.success) readItem(parsed.data, transcript);
  } else if (event["type"] === "turn.completed") {
    const parsed = usage.safeParse(event["usage"]);
    if (!parsed.success) return;
    const { input_tokens, output_tokens, cached_input_tokens, reasoning_output_tokens } = parsed.data;
    transcript.addUsage({
      inputTokens: input_tokens,
      outputTokens: output_tokens,
      cachedTokens: cached_input_tokens ?? null,
      reasoningTokens: reasoning_output_tokens ?? null,
    });
  } else if (event["type"] === "turn.failed" || event["type"] === "error") {
    transcript.errors.push(JSON.stringify(event["error"] ?? event["message"] ?? event));
  }
}

function readItem(done: z.output<typeof item>, transcript: Transcript): void {
  const failed = done["status"] === "failed";
  const call = (name: string, input: unknown, output: unknown) =>
    transcript.call(
      done.id,
      name,
      input,
      typeof output === "string" ? output : JSON.stringify(output ?? ""),
      failed,
    );
  if (done.type === "agent_message") transcript.message(done.text);
  else if (done.type === "reasoning") transcript.reasoning(done.text);
  else if (done.type === "command_execution") {
    const code = done["exit_code"];
    const suffix = typeof code === "number" && code !== 0 ? `\n[exit code: ${code}]` : "";
    call("exec_command", { cmd: done["command"] }, `${String(done["aggregated_output"] ?? "")}${suffix}`);
  } else if (done.type === "mcp_tool_call")
    call(String(done["tool"]), done["arguments"], mcpText(done["result"]) ?? done["error"]);
  else if (done.type === "file_change") call("apply_patch", { changes: done["changes"] }, done["status"]);
  else if (done.type === "web_search") call("web_search", { query: done["query"] }, "");
  else if (done.type === "todo_list") call("update_plan", { items: done["items"] }, "");
  else if (done.type === "error") transcript.errors.push(String(done["message"] ?? done.text));
}

/** The text blocks of an MCP result. */
function mcpText(result: unknown): string | undefined {
  const parsed = z
    .looseObject({ content: z.array(z.looseObject({ text: z.string().optional() })) })
    .safeParse(result);
  return parsed.success ? parsed.data.content.map(({ text }) => text ?? "").join("\n") : undefined;
}
