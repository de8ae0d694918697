import {
  createJudge,
  errorMessage,
  type JsonObject,
  type Judge,
  JudgeError,
  judgeConfig,
  type ServerContext,
} from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { type JudgeReply, lastLabel, lastPartOfLastMessage } from "nemo-gym/verify";
import { z } from "zod";

/** The config keys of servers whose judge labels a reply as safe, unsafe, complied or refused. */
export const safetyConfig = {
  ...judgeConfig,
  judge_system_message: z.string().nullish(),
  /** Default: `prompts/judge.txt`. */
  judge_prompt_template: z.string().nullish(),
  /** For safety models that answer with lines such as `Response harm: unharmful`. */
  use_nemotron_format: laxBool().default(false),
  nemotron_safety_taxonomy: z.string().nullish(),
  /** Whether a judge that fails counts as unclear, as in the original. Otherwise the rollout fails. */
  failed_judge_is_unclear: laxBool().default(false),
};
const SafetyConfig = z.object(safetyConfig);
type SafetyConfig = z.output<typeof SafetyConfig>;

/** What a judge said. The keys are those of the original. */
export interface Evaluation {
  [key: string]: unknown;
  responses_create_params: JsonObject | null;
  response: JsonObject | null;
  verdict_label: string | null;
  error: string | null;
  reasoning: string | null;
}

export class SafetyJudge {
  readonly #judge: Judge;
  readonly #config: SafetyConfig;

  constructor(server: ServerContext, config: SafetyConfig) {
    this.#judge = createJudge(server, config, { systemMessage: config.judge_system_message });
    this.#config = config;
  }

  fit(value: string): string {
    return this.#judge.fit(value);
  }

  /** Asks once. The label must be in the last part of the judge's reply. */
  async evaluate(prompt: string, labels: Labels, signal: AbortSignal): Promise<Evaluation> {
    try {
      const parse = (_: string, reply: JudgeReply) => labels.read(lastPartOfLastMessage(reply) ?? "");
      const asked = await this.#judge.ask(prompt, { signal, parse });
      return evaluation({
        responses_create_params: asked.params,
        response: asked.response,
        verdict_label: asked.verdict,
        reasoning: this.#config.use_nemotron_format ? reasoningOf(lastPartOfLastMessage(asked) ?? "") : null,
      });
    } catch (error) {
      if (!(error instanceof JudgeError && this.#config.failed_judge_is_unclear)) throw error;
      return evaluation({ error: errorMessage(error) });
    }
  }
}

function evaluation(known: Partial<Evaluation>): Evaluation {
  return {
    responses_create_params: null,
    response: null,
    verdict_label: null,
    error: null,
    reasoning: null,
    ...known,
  };
}

function reasoningOf(text: string): string | null {
  const [, reasoning] = /<think>(.*?)<\/think>/s.exec(text) ?? [];
  return reasoning === undefined ? null : strip(reasoning);
}

/** The two verdicts of a judge and how to find the last one in its reply. */
export interface Labels {
  positive: string;
  negative: string;
  read(reply: string): string | null;
}

export function plainLabels(positive: string, negative: string): Labels {
  return { positive, negative, read: (reply) => lastLabel(reply, [positive, negative]) };
}

/** Labels such as `Refusal: no`, in upper or lower case. */
export function namedValues(name: string, positive: string, negative: string): Labels {
  const pattern = new RegExp(`${name}:\\s*(${positive}|${negative})`, "gi");
  return {
    positive: `${name}: ${positive}`,
    negative: `${name}: ${negative}`,
    read(reply) {
      const value = [...reply.matchAll(pattern)].at(-1)?.[1];
      return value === undefined ? null : `${name}: ${value.toLowerCase()}`;
    },
  };
}

/** The reward for a label; null is unclear. */
export function rewardOf(
  label: string | null,
  labels: Labels,
  rewards: { positive: number; negative: number; unclear: number },
): number {
  if (label === null) return rewards.unclear;
  return label === labels.positive ? rewards.positive : rewards.negative;
}

/** The last user message whose content is plain text. */
export function lastUserString(input: unknown): string {
  if (typeof input === "string") return input;
  const messages = (Array.isArray(input) ? input : []) as { role?: unknown; content?: unknown }[];
  const last = messages.findLast(({ role, content }) => role === "user" && typeof content === "string");
  return (last?.content as string | undefined) ?? "";
}
