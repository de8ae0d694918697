import {
  cliAgentConfig,
  defineCliAgent,
  harnessSandbox,
  promptArguments,
  type Transcript,
} from "nemo-gym/agents";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";

const VERSION = "1.18.33";

const opencodeConfig = cliAgentConfig.extend({
  opencode_version: z.string().nullish(),
  thinking: laxBool().default(false),
  /** Merged into opencode.json, together with the provider `nemo`. */
  opencode_config: z.record(z.string(), z.unknown()).default({
    permission: { bash: "allow", edit: "allow", webfetch: "allow", external_directory: "allow" },
  }),
});

/** OpenCode on the model server's `/v1/chat/completions`. `isSandboxed`: runs in a sandbox unless the config says otherwise. */
export const opencodeAgent = (name: string, isSandboxed: boolean) =>
  defineCliAgent({
    name,
    config: opencodeConfig.extend({ sandbox: harnessSandbox.default(isSandboxed) }),
    program: ({ opencode_version }) => ({
      package: "opencode-ai",
      command: "opencode",
      version: opencode_version ?? VERSION,
    }),
    launch({ config: own, home, workspace, model, baseUrl, prompt, system, mcp }) {
      const text = system === undefined ? prompt : `${system}\n\n${prompt}`;
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${baseUrl}/v1`, apiKey: "EMPTY" },
        models: {
          [model]: {
            name: model,
            interleaved: { field: "reasoning" },
            limit: { context: 262_144, output: 131_072 },
          },
        },
      };
      const settings = {
        $schema: "https://opencode.ai/config.json",
        autoupdate: false,
        // Generating a title would add a second conversation to the model calls of the rollout.
        agent: { title: { disable: true } },
        ...own.opencode_config,
        provider: { ...(own.opencode_config["provider"] as object | undefined), nemo: provider },
        ...(mcp !== undefined && {
          mcp: { [mcp.name]: { type: "remote", url: mcp.url, headers: mcp.headers, enabled: true } },
        }),
      };
      const { args: last, ...input } = promptArguments(text);
      return {
        ...input,
        args: [
          ...["run", "--format", "json", "-m", `nemo/${model}`, "--dir", workspace],
          ...(own.thinking ? ["--thinking"] : []),
          ...own.extra_args,
          ...last,
        ],
        env: {
          XDG_DATA_HOME: `${home}/.local/share`,
          XDG_CONFIG_HOME: `${home}/.config`,
          XDG_CACHE_HOME: `${home}/.cache`,
          OPENCODE_CONFIG: `${home}/opencode.json`,
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
        },
        files: { "opencode.json": JSON.stringify(settings) },
      };
    },
    read: readEvent,
  });

const part = z.looseObject({
  type: z.string(),
  text: z.string().default(""),
  callID: z.string().default(""),
  tool: z.string().default(""),
  state: z
    .looseObject({
      status: z.string().optional(),
      input: z.unknown().optional(),
      output: z.unknown().optional(),
      error: z.unknown().optional(),
    })
    .optional(),
  tokens: z
    .looseObject({
      input: z.number().default(0),
      output: z.number().default(0),
      reasoning: z.number().nullish(),
      cache: z.looseObject({ read: z.number().default(0) }).optional(),
    })
    .optional(),
});

/** Adds one event of the program to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] === "error") {
    transcript.errors.push(JSON.stringify(event["error"] ?? event));
    return;
  }
  const parsed = part.safeParse(event["part"]);
  if (!parsed.success) return;
  const { type, text, callID, tool, state, tokens } = parsed.data;
  if (type === "text") transcript.message(text);
  else if (type === "reasoning") transcript.reasoning(text);
  else if (type === "tool" && state !== undefined && (state.output ?? state.error) != null)
    transcript.call(callID, tool, state.input, String(state.output ?? state.error), state.status === "error");
  else if (type === "step-finish" && tokens !== undefined)
    transcript.addUsage({
      inputTokens: tokens.input + (tokens.cache?.read ?? 0),
      outputTokens: tokens.output,
      cachedTokens: tokens.cache?.read ?? null,
      reasoningTokens: tokens.reasoning ?? null,
    });
}
