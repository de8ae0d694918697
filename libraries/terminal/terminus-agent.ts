import { defineAgent, HttpError, loopAgentConfig, toolLoop } from "nemo-gym";
import { callLimits, callModel, inputItems, Semaphore, standardRun } from "nemo-gym/agents";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import {
  accumulateUsage,
  laxBool,
  laxFloat,
  laxInt,
  outputText,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
  textParts,
  type Usage,
} from "nemo-gym/openai";
import { openSandbox, type Sandbox, type SandboxServer, sandboxConfig } from "nemo-gym/sandbox";
import { z } from "zod";
import { type KeystrokeBatch, Terminal } from "./terminal.ts";
import { turnFormats } from "./turn.ts";

const CONFIRM = `You say that the task is done. If so, repeat it in your next turn: the work then ends and is graded, and you cannot correct it any more. Otherwise go on.`;
const SUMMARIZE = `The conversation has become too long, so it is replaced by a summary, with which another engineer will continue without seeing it. Write this summary: the task in its exact words, what has been done with commands and files, what was found out, the state of the terminal, what is still to be done, and what has failed.`;
const CONTINUE = `You take over a task that another engineer has begun. Their summary:`;

const config = loopAgentConfig.extend({
  ...sandboxConfig,
  /** The form of the model's turns. */
  parser_name: z.enum(["json", "xml"]).default("json"),
  /** For rows that set none. */
  temperature: laxFloat().nullable().default(0.7),
  /** The context of the model in tokens. Null: unknown, so the conversation is never shortened. */
  max_input_tokens: laxInt().nullable().default(null),
  /** Replaces the conversation by a summary when fewer tokens than the threshold are left. */
  enable_summarize: laxBool().default(true),
  proactive_summarization_threshold: laxInt().default(8000),
  tmux_pane_width: laxInt().default(160),
  tmux_pane_height: laxInt().default(40),
  /** Seconds for one rollout. */
  timeout: laxFloat().default(10_800),
  /** Maximum number of concurrent rollouts. */
  concurrency: laxInt().default(8),
});

type Type = (batch: KeystrokeBatch) => Promise<string>;

/**
 * An agent that works in a terminal: each turn of the model is text with keystrokes, and the terminal's output is its next
 * input. `own`: in a new sandbox. `session`: in the sandbox of the environment, through its tool `terminal`.
 */
export function terminusAgent(name: string, place: "own" | "session") {
  return defineAgent({
    name,
    config,
    start: ({ config: { concurrency } }) => ({ slots: new Semaphore(concurrency) }),
    run({ state, signal, ...args }) {
      const params = withInstructions(args.params, args.config.parser_name);
      return state.slots.run(() => standardRun({ ...args, params, signal }), signal);
    },
    async responses(args) {
      const { config: own, server, rollout, signal, cookies } = args;
      const format = turnFormats[own.parser_name];
      const params = withInstructions(args.params, own.parser_name);
      const deadline = performance.now() + own.timeout * 1000;
      const sandbox = place === "own" ? await open(server, signal) : undefined;
      const terminal =
        sandbox && new Terminal(sandbox, { width: own.tmux_pane_width, height: own.tmux_pane_height });
      const type: Type = async (batch) => {
        rollout.onStage("tool", "terminal");
        if (terminal) return terminal.type(batch, signal);
        const path = `${rollout.prefix}/terminal`;
        const timeoutMs = callLimits(server.globalConfig).toolCallMs;
        const options = { cookies, signal, timeoutMs, timeoutKey: "tool_call_timeout_seconds" };
        const reply = await server.client.post(own.resources_server.name, path, batch, options);
        if (reply.ok) return (reply.json() as { screen: string }).screen;
        throw reply.status === 404
          ? new HttpError(422, `${own.resources_server.name} has no tool 'terminal': use terminus_2_agent.`)
          : new HttpError(502, `${own.resources_server.name} /terminal: ${reply.text().slice(0, 500)}`);
      };
      const context = new Context(params, {
        limit:
          own.enable_summarize && own.max_input_tokens !== null
            ? own.max_input_tokens - own.proactive_summarization_threshold
            : Number.POSITIVE_INFINITY,
        ask: async (input) => {
          const call = { modelServer: own.model_server.name, rollout, signal };
          return (await callModel(server.client, { ...call, params: { ...params, input } })).response;
        },
      });
      let isConfirming = false;
      try {
        const reply = await toolLoop(
          { ...args, params: { temperature: own.temperature, ...params } },
          {
            question: (conversation) =>
              performance.now() > deadline ? null : context.question(conversation),
            async answered(response) {
              context.observe(response);
              const turn = format.read(withoutThinking(outputText(response)));
              if (typeof turn === "string") {
                isConfirming = false;
                return [user(`This turn cannot be read. ${turn} Nothing was typed. Write the turn again.`)];
              }
              const isDone = turn.isComplete && isConfirming;
              const screen = isDone && turn.commands.length === 0 ? "" : await type(turn);
              if (isDone) return undefined;
              isConfirming = turn.isComplete;
              return [user(isConfirming ? `${screen}\n\n${CONFIRM}` : screen)];
            },
          },
        );
        const usage = accumulateUsage(reply.response.usage as Usage | null, context.usage);
        return { ...reply, response: { ...reply.response, usage } };
      } finally {
        await sandbox?.stop();
      }
    },
  });
}

async function open(server: SandboxServer, signal: AbortSignal): Promise<Sandbox> {
  try {
    return await openSandbox(server, {}, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw sandboxUnavailable(error);
  }
}

/** Puts the instructions in front of the input, so that the result contains all that the model was shown. */
function withInstructions(
  params: ResponseCreateParams,
  parser: keyof typeof turnFormats,
): ResponseCreateParams {
  const { instructions } = turnFormats[parser];
  const items = inputItems(params);
  const [first] = items;
  const own =
    first !== undefined && "role" in first && first.role === "system" ? textParts(first.content) : [];
  if (own[0]?.startsWith(instructions)) return params;
  const content = [instructions, ...own].join("\n\n");
  // Many chat templates accept only one system message.
  return {
    ...params,
    input: [{ type: "message", role: "system", content }, ...items.slice(own.length > 0 ? 1 : 0)],
  };
}

const user = (content: string): ResponseInputItem => ({ type: "message", role: "user", content });

/** Some models write their reasoning into their answer. */
const withoutThinking = (text: string) => text.replace(/^.*<\/think>/s, "");

interface ContextOptions {
  /** The number of tokens above which the conversation is summarized. */
  limit: number;
  ask(input: ResponseInputItem[]): Promise<Response>;
}

/** The part of the conversation that the model sees: all of it, or a summary and what followed it. */
class Context {
  usage: Usage | null = null;
  readonly #instructions: ResponseInputItem[];
  readonly #options: ContextOptions;
  #tokens = 0;
  #summary: ResponseInputItem[] = [];
  /** Items of the conversation that the summary replaces. */
  #summarized = 0;

  constructor(params: ResponseCreateParams, options: ContextOptions) {
    this.#instructions = inputItems(params).slice(0, 1);
    this.#options = options;
  }

  /** Counts the tokens of a turn. */
  observe({ usage }: Response): void {
    this.#tokens = usage == null ? 0 : usage.input_tokens + usage.output_tokens;
  }

  async question(conversation: readonly ResponseInputItem[]): Promise<ResponseInputItem[]> {
    const { limit, ask } = this.#options;
    if (this.#tokens > limit) {
      const response = await ask([...this.#visible(conversation), user(SUMMARIZE)]);
      const summary = withoutThinking(outputText(response)).trim();
      this.usage = accumulateUsage(this.usage, response.usage);
      this.#tokens = 0;
      if (summary !== "") {
        this.#summary = [...this.#instructions, user(`${CONTINUE}\n\n${summary}`)];
        // The last output of the terminal stays visible.
        this.#summarized = conversation.length - 1;
      }
    }
    return this.#visible(conversation);
  }

  #visible(conversation: readonly ResponseInputItem[]): ResponseInputItem[] {
    return [...this.#summary, ...conversation.slice(this.#summarized)];
  }
}
