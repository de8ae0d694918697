import { type HarnessLaunch, type HarnessRequest, promptArguments, type Transcript } from "nemo-gym/agents";
import { z } from "zod";

/** OpenCode, or a program that was made from it. */
export interface OpencodeFork {
  /** The beginning of its environment variables. */
  prefix: "OPENCODE" | "KILO";
  /** Arguments of `run`, without the model and the prompt. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Its config file, which is merged with the provider `nemo`. */
  settings: Readonly<Record<string, unknown>>;
  contextWindow: number;
  maxOutputTokens: number;
  /** The field of chat messages with the reasoning of earlier turns. */
  reasoningField?: string;
}

/** Runs the program on the model server's `/v1/chat/completions`. */
export function launchOpencode(request: HarnessRequest<unknown>, fork: OpencodeFork): HarnessLaunch {
  const { home, workspace, model, baseUrl, prompt, system, mcp } = request;
  const { prefix } = fork;
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${baseUrl}/v1`, apiKey: "EMPTY" },
    models: {
      [model]: {
        name: model,
        interleaved: { field: fork.reasoningField ?? "reasoning_content" },
        limit: { context: fork.contextWindow, output: fork.maxOutputTokens },
      },
    },
  };
  const settings = {
    autoupdate: false,
    // Generating a title would add a second conversation to the model calls of the rollout.
    agent: { title: { disable: true } },
    ...fork.settings,
    provider: { ...(fork.settings["provider"] as object | undefined), nemo: provider },
    ...(mcp !== undefined && {
      mcp: { [mcp.name]: { type: "remote", url: mcp.url, headers: mcp.headers, enabled: true } },
    }),
  };
  const file = `${prefix.toLowerCase()}.json`;
  const text = system === undefined ? prompt : `${system}\n\n${prompt}`;
  const { args: last, ...input } = promptArguments(text, { before: ["--"] });
  return {
    ...input,
    args: ["run", "--format", "json", "-m", `nemo/${model}`, "--dir", workspace, ...fork.args, ...last],
    env: {
      XDG_DATA_HOME: `${home}/.local/share`,
      XDG_CONFIG_HOME: `${home}/.config`,
      XDG_CACHE_HOME: `${home}/.cache`,
      [`${prefix}_CONFIG`]: `${home}/${file}`,
      [`${prefix}_DISABLE_AUTOUPDATE`]: "1",
      [`${prefix}_DISABLE_MODELS_FETCH`]: "1",
      ...fork.env,
    },
    files: { [file]: JSON.stringify(settings) },
  };
}

const part = z.looseObject({
  id: z.string().optional(),
  type: z.string().optional(),
  text: z.string().default(""),
  callID: z.string().optional(),
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

/** The parts that were read, because a part can be reported again. */
const known = new WeakMap<Transcript, Set<string>>();

/** Adds one event of the program to the transcript. */
export function readEvent(event: Record<string, unknown>, transcript: Transcript): void {
  if (event["type"] === "error") {
    transcript.errors.push(JSON.stringify(event["error"] ?? event));
    return;
  }
  const parsed = part.safeParse(event["part"]);
  if (!parsed.success) return;
  const { id, type = event["type"], text, callID, tool, state, tokens } = parsed.data;
  const parts = known.get(transcript) ?? new Set();
  known.set(transcript, parts);
  if (id !== undefined && parts.has(id)) return;
  if (id !== undefined) parts.add(id);
  if (type === "text") transcript.message(text);
  else if (type === "reasoning") transcript.reasoning(text);
  else if ((type === "tool" || type === "tool_use") && state !== undefined) {
    const output = state.output ?? state.error;
    const isFailed = state.status === "error";
    transcript.call(callID, tool, state.input, output == null ? undefined : String(output), isFailed);
  } else if ((type === "step-finish" || type === "step_finish") && tokens !== undefined)
    transcript.addUsage({
      inputTokens: tokens.input + (tokens.cache?.read ?? 0),
      outputTokens: tokens.output,
      cachedTokens: tokens.cache?.read ?? null,
      reasoningTokens: tokens.reasoning ?? null,
    });
}
