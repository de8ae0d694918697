import {
  cliAgentConfig,
  defineCliAgent,
  type HarnessRequest,
  promptArguments,
  type Transcript,
} from "nemo-gym/agents";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { z } from "zod";

/** The newest version for Node 20; later ones need Node 22. */
const VERSION = "2.1.197";
const MCP_START_MS = 60_000;

const config = cliAgentConfig.extend({
  concurrency: laxInt().default(32),
  timeout: laxFloat().default(300),
  claude_code_version: z.string().nullish(),
  max_turns: laxInt().nullable().default(30),
  allowed_tools: z.string().nullish(),
  disallowed_tools: z.string().nullish(),
  thinking: z.string().nullish(),
  max_thinking_tokens: laxInt().nullish(),
  bare: laxBool().default(true),
  /** `mcpServers` in addition to the resources server. */
  mcp_config: z.record(z.string(), z.unknown()).nullish(),
  /** Merged over the settings below; `env` is merged by key. */
  settings: z.record(z.string(), z.unknown()).nullish(),
});
type Config = z.output<typeof config>;

/** Claude Code on the model server's `/v1/messages`. */
export default defineCliAgent({
  name: "ClaudeCodeAgent",
  config,
  program: ({ claude_code_version }) => ({
    package: "@anthropic-ai/claude-code",
    command: "claude",
    version: claude_code_version ?? VERSION,
  }),
  launch(request) {
    const { config: own, model, home, skillsDirectory } = request;
    const flag = (name: string, value: unknown) => (value == null ? [] : [name, String(value)]);
    const models = ["ANTHROPIC_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL"].concat(
      ["HAIKU", "SONNET", "OPUS"].map((size) => `ANTHROPIC_DEFAULT_${size}_MODEL`),
    );
    const { args: last, ...input } = promptArguments(request.prompt, { before: ["--"] });
    return {
      ...input,
      args: [
        ...["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
        // The bare mode does not read skills.
        ...(own.bare && skillsDirectory === undefined ? ["--bare"] : []),
        ...["--model", model, "--mcp-config", `${home}/mcp.json`],
        ...flag("--append-system-prompt", request.system),
        ...flag("--allowedTools", own.allowed_tools),
        ...flag("--disallowedTools", own.disallowed_tools),
        ...flag("--thinking", own.thinking),
        ...flag("--max-thinking-tokens", own.max_thinking_tokens),
        ...flag("--max-turns", own.max_turns),
        ...own.extra_args,
        ...last,
      ],
      env: {
        ...Object.fromEntries(models.map((name) => [name, model])),
        ANTHROPIC_BASE_URL: request.baseUrl,
        ANTHROPIC_AUTH_TOKEN: "local",
        ANTHROPIC_API_KEY: "local",
        CLAUDE_CONFIG_DIR: `${home}/.claude`,
        // Claude Code would continue without the tools of a server that responds slowly.
        MCP_CONNECTION_NONBLOCKING: "false",
        MCP_TIMEOUT: String(MCP_START_MS),
        // Root may skip the permission prompts only if the environment claims to be a sandbox.
        IS_SANDBOX: "1",
      },
      files: {
        "mcp.json": JSON.stringify({ mcpServers: mcpServers(request) }),
        ".claude/settings.json": JSON.stringify(settingsOf(own)),
      },
      ...(skillsDirectory !== undefined && { copies: { ".claude/skills": skillsDirectory } }),
    };
  },
  read: readEvent,
});

function mcpServers({ config: own, mcp }: HarnessRequest<Config>): Record<string, unknown> {
  const given = own.mcp_config?.["mcpServers"] ?? own.mcp_config ?? {};
  if (mcp === undefined) return given as Record<string, unknown>;
  return { ...given, [mcp.name]: { type: "http", url: mcp.url, headers: mcp.headers } };
}

function settingsOf({ settings }: Config): Record<string, unknown> {
  const env = {
    CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
    CLAUDE_CODE_ENABLE_TELEMETRY: "0",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ...(settings?.["env"] as Record<string, unknown> | undefined),
  };
  return { ...settings, env };
}

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});
const conversation = z.looseObject({
  message: z.looseObject({ content: z.union([z.string(), z.array(block)]) }),
});
const outcome = z.looseObject({
  subtype: z.string().optional(),
  is_error: z.boolean().optional(),
  result: z.string().optional(),
  usage: z
    .looseObject({
      input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      cache_read_input_tokens: z.number().nullish(),
      cache_creation_input_tokens: z.number().nullish(),
    })
    .optional(),
});

/** Adds one event of the program to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] === "result") {
    readResult(event, transcript);
    return;
  }
  if (event["type"] !== "assistant" && event["type"] !== "user") return;
  const parsed = conversation.safeParse(event);
  if (!parsed.success) return;
  const { content } = parsed.data.message;
  for (const part of typeof content === "string" ? [{ type: "text", text: content }] : content) {
    if (event["type"] === "assistant") readAssistantBlock(part, transcript);
    else if (part.type === "tool_result" && "tool_use_id" in part && part.tool_use_id !== undefined)
      transcript.callFinished(part.tool_use_id, textOf(part.content), part.is_error ?? false);
  }
}

function readAssistantBlock(part: Partial<z.output<typeof block>>, transcript: Transcript): void {
  if (part.type === "text") transcript.message(part.text ?? "");
  else if (part.type === "thinking") transcript.reasoning(part.thinking ?? "");
  else if (part.type === "tool_use" && part.id !== undefined)
    transcript.callStarted(part.id, part.name ?? "", part.input);
}

function readResult(event: Record<string, unknown>, transcript: Transcript): void {
  const { subtype, is_error, result, usage } = outcome.parse(event);
  if (subtype === "error_max_turns") transcript.incompleteReason = "max_turns";
  else if (is_error || subtype?.startsWith("error")) transcript.errors.push(result ?? subtype ?? "error");
  if (usage)
    transcript.addUsage({
      inputTokens:
        usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      outputTokens: usage.output_tokens,
      cachedTokens: usage.cache_read_input_tokens ?? null,
    });
}

/** A tool result is a text or a list of blocks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = z.array(block).safeParse(content);
  if (!parts.success) return content == null ? "" : JSON.stringify(content);
  return parts.data.map(({ text }) => text ?? "").join("\n");
}
