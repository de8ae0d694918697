import {
  cliAgentConfig,
  defineCliAgent,
  type HarnessRequest,
  promptArguments,
  type Transcript,
} from "nemo-gym/agents";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";

const VERSION = "3.0.65";

const config = cliAgentConfig.extend({
  cline_version: z.string().nullish(),
  thinking: z.string().nullish(),
  compaction: z.string().nullish(),
  retries: laxInt().nullish(),
});

/** Cline on the model server's `/v1/chat/completions`. */
export default defineCliAgent({
  name: "ClineAgent",
  config,
  program: ({ cline_version }) => ({ package: "cline", command: "cline", version: cline_version ?? VERSION }),
  launch(request) {
    const { config: own, home, workspace, model, prompt, system, timeoutMs } = request;
    const data = `${home}/data`;
    const text = system === undefined ? prompt : `${system}\n\n${prompt}`;
    const flag = (name: string, value: unknown) => (value == null ? [] : [name, String(value)]);
    // Cline would read a single word as a command.
    const { args: last, ...input } = promptArguments(/\s/.test(text) ? text : `${text} `, { before: ["--"] });
    return {
      ...input,
      before: [
        [
          ...["auth", "openai-compatible", "--apikey", "EMPTY", "--modelid", model],
          ...["--baseurl", `${request.baseUrl}/v1`, "--data-dir", data],
        ],
      ],
      args: [
        ...["--json", "--auto-approve", "true", "--cwd", workspace, "--data-dir", data],
        ...["--timeout", String(Math.ceil(timeoutMs / 1000)), "-m", model, "-P", "openai-compatible"],
        ...flag("--thinking", own.thinking),
        ...flag("--compaction", own.compaction),
        ...flag("--retries", own.retries),
        ...own.extra_args,
        ...last,
      ],
      env: variablesOf(data),
      ...(request.mcp !== undefined && { files: { "data/mcp.json": mcpSettings(request) } }),
    };
  },
  read: readEvent,
});

function variablesOf(data: string): Record<string, string> {
  return {
    CLINE_DATA_DIR: data,
    CLINE_PROVIDER_SETTINGS_PATH: `${data}/providers.json`,
    CLINE_GLOBAL_SETTINGS_PATH: `${data}/settings.json`,
    CLINE_MCP_SETTINGS_PATH: `${data}/mcp.json`,
    CLINE_SESSION_DATA_DIR: `${data}/sessions`,
    CLINE_DB_DATA_DIR: `${data}/db`,
    CLINE_TEAM_DATA_DIR: `${data}/team`,
    CLINE_HOOKS_LOG_PATH: `${data}/hooks.log`,
    CLINE_SESSION_BACKEND_MODE: "local",
  };
}

function mcpSettings({ mcp }: HarnessRequest<z.output<typeof config>>): string {
  if (mcp === undefined) return "{}";
  const server = { type: "streamableHttp", url: mcp.url, headers: mcp.headers, disabled: false };
  return JSON.stringify({ mcpServers: { [mcp.name]: server } });
}

const content = z.looseObject({
  type: z.string(),
  contentType: z.string().optional(),
  text: z.string().default(""),
  toolName: z.string().default(""),
  toolCallId: z.string().default(""),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
});
const usage = z.looseObject({
  inputTokens: z.number().default(0),
  outputTokens: z.number().default(0),
  cacheReadTokens: z.number().default(0),
});

/** Adds one event of the program to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] === "run_result") {
    const total = usage.safeParse(event["aggregateUsage"] ?? event["usage"]);
    if (total.success)
      transcript.addUsage({
        inputTokens: total.data.inputTokens + total.data.cacheReadTokens,
        outputTokens: total.data.outputTokens,
        cachedTokens: total.data.cacheReadTokens,
      });
    return;
  }
  if (event["type"] === "error") {
    transcript.errors.push(String(event["message"] ?? JSON.stringify(event)));
    return;
  }
  const parsed = content.safeParse(event["type"] === "agent_event" ? event["event"] : undefined);
  if (!parsed.success) return;
  const { type, contentType, text, toolName, toolCallId, input, output, error } = parsed.data;
  const isTool = contentType === "tool" || toolCallId !== "";
  if (type === "content_start" && isTool) transcript.callStarted(toolCallId, toolName, input);
  else if (type === "content_end" && isTool) {
    const result = output ?? error ?? "";
    transcript.callFinished(
      toolCallId,
      typeof result === "string" ? result : JSON.stringify(result),
      error != null,
    );
  } else if (type === "content_end" && contentType === "reasoning") transcript.reasoning(text);
  else if (type === "content_end") transcript.message(text);
}
