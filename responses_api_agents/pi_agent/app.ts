import { cliAgentConfig, defineCliAgent, promptArguments, type Transcript } from "nemo-gym/agents";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { mcpExtension } from "./mcp-extension.ts";

/** The newest version for Node 20, under the package's earlier name. */
const PACKAGE = "@mariozechner/pi-coding-agent";
const VERSION = "0.73.1";

const config = cliAgentConfig.extend({
  pi_package: z.string().default(PACKAGE),
  pi_version: z.string().nullish(),
  thinking: z.string().nullish(),
  context_window: laxInt().default(262_144),
  max_tokens: laxInt().default(131_072),
});

/** Pi on the model server's `/v1/chat/completions`. */
export default defineCliAgent({
  name: "PiAgent",
  config,
  program: ({ pi_package, pi_version }) => ({
    package: pi_package,
    command: "pi",
    version: pi_version ?? VERSION,
  }),
  launch({ config: own, home, model, baseUrl, prompt, system, mcp }) {
    const provider = {
      baseUrl: `${baseUrl}/v1`,
      api: "openai-completions",
      apiKey: "EMPTY",
      compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
      models: [
        {
          id: model,
          name: model,
          reasoning: true,
          input: ["text"],
          contextWindow: own.context_window,
          maxTokens: own.max_tokens,
        },
      ],
    };
    const { args: last, ...input } = promptArguments(prompt);
    return {
      ...input,
      args: [
        ...["--print", "--mode", "json", "--no-session", "--provider", "nemo", "--model", model],
        ...(own.thinking == null ? [] : ["--thinking", own.thinking]),
        ...(system === undefined ? [] : ["--append-system-prompt", system]),
        ...(mcp === undefined ? [] : ["--extension", `${home}/gym-mcp.mjs`]),
        ...own.extra_args,
        ...last,
      ],
      env: { PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0", PI_OFFLINE: "1" },
      files: {
        ".pi/agent/models.json": JSON.stringify({ providers: { nemo: provider } }),
        ...(mcp !== undefined && { "gym-mcp.mjs": mcpExtension, "gym-mcp.json": JSON.stringify(mcp) }),
      },
    };
  },
  read: readEvent,
});

const block = z.looseObject({
  type: z.string(),
  text: z.string().default(""),
  thinking: z.string().default(""),
  id: z.string().default(""),
  name: z.string().default(""),
  arguments: z.unknown().optional(),
});
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string().transform((text) => [block.parse({ type: "text", text })]), z.array(block)]),
  toolCallId: z.string().default(""),
  isError: z.boolean().default(false),
  errorMessage: z.string().nullish(),
  usage: z
    .looseObject({
      input: z.number().default(0),
      output: z.number().default(0),
      cacheRead: z.number().default(0),
    })
    .nullish(),
});

/** Adds one event of the program to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] !== "message_end") return;
  const parsed = message.safeParse(event["message"]);
  if (!parsed.success) return;
  const { role, content, toolCallId, isError, errorMessage, usage } = parsed.data;
  if (role === "toolResult") {
    transcript.callFinished(toolCallId, content.map(({ text }) => text).join("\n"), isError);
    return;
  }
  if (role !== "assistant") return;
  for (const { type, text, id, name, arguments: input } of content) {
    if (type === "text") transcript.message(text);
    else if (type === "toolCall") transcript.callStarted(id, name, input);
  }
  if (errorMessage != null && errorMessage !== "") transcript.errors.push(errorMessage);
  if (usage)
    transcript.addUsage({
      inputTokens: usage.input + usage.cacheRead,
      outputTokens: usage.output,
      cachedTokens: usage.cacheRead,
    });
}
