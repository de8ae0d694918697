import {
  createJudge,
  HttpError,
  type Judge,
  JudgeError,
  loadYaml,
  promptFrom,
  type ServerContext,
} from "nemo-gym";
import { dumps } from "nemo-gym/python";
import { jsonVerdict, judgeErrorStatus, retryJudge } from "nemo-gym/verify";
import { z } from "zod";
import type { Config } from "./config.ts";
import type { Label, Message } from "./conversation.ts";
import type { Seed } from "./row.ts";
import { line, scenarioFields, transcript } from "./simulators.ts";

const FIELDS = [
  "policy",
  "tools",
  "persona",
  "reason",
  "details",
  "unknown",
  "instructions",
  "conversation",
  "subject",
  "criteria",
];
const PARTS = ["user", "environment", "agent", "conversation", "combined"] as const;
type Part = (typeof PARTS)[number];

const Prompts = z.object({ user: z.string(), criteria: z.record(z.enum(PARTS), z.string()) });
const Verdict = z.looseObject({ success: z.boolean(), explanation: z.string().default("") });
const Combined = z.looseObject({
  customer_success: z.boolean(),
  representative_success: z.boolean(),
  tool_results_success: z.boolean(),
});

export interface Judgement {
  reasons: string[];
  labels: Label[];
  diagnostics: object[];
  /** Why the judge has no verdict. */
  error?: string;
}

const BLAMES: Record<Message["source"], { label: Label; reason?: string }> = {
  user: { label: "user_failure", reason: "no_reward_user_message" },
  environment: { label: "tool_failure", reason: "no_reward_environment_message" },
  agent: { label: "agent_failure" },
};

/** Decides whether everybody in a conversation did what they should. */
export async function createConversationJudge(server: ServerContext<Config>) {
  const { config } = server;
  const { judge_model_server: name = config.simulator_model_server } = config;
  if (!config.enable_llm_judge || name === undefined) return undefined;
  const judge = createJudge(server, { ...config, judge_model_server: name });
  const { user, criteria } = await loadYaml(server, config.judge_prompt_path, Prompts);
  const template = await promptFrom(server, user, config.judge_prompt_path, FIELDS);

  return async (seed: Seed, messages: readonly Message[], signal: AbortSignal): Promise<Judgement> => {
    const found: Judgement = { reasons: [], labels: [], diagnostics: [] };
    const prompt = (part: Part, subject: string) =>
      template.render({
        ...scenarioFields(seed),
        policy: seed.policy,
        tools: dumps(seed.tools),
        conversation: judge.fit(transcript(messages)),
        subject,
        criteria: criteria[part],
      });
    const blame = (source: Message["source"]) => {
      const { label, reason } = BLAMES[source];
      if (!found.labels.includes(label)) found.labels.push(label);
      if (reason !== undefined && !found.reasons.includes(reason)) found.reasons.push(reason);
    };
    /** Whether a message, or the whole conversation, passes. */
    const passes = async (message?: Message) => {
      const text = message
        ? prompt(message.source, line(message))
        : prompt("conversation", "the whole conversation");
      const verdict = await ask(judge, text, Verdict, config, signal);
      const about = message ? messages.indexOf(message) : "conversation";
      found.diagnostics.push({ about, success: verdict.success, explanation: verdict.explanation });
      if (!verdict.success) blame(message?.source ?? "agent");
      return verdict.success;
    };
    try {
      if (config.verification_type === "complete_trajectory_combined_evaluation") {
        const verdict = await ask(
          judge,
          prompt("combined", "the whole conversation"),
          Combined,
          config,
          signal,
        );
        found.diagnostics.push({ about: "conversation", ...verdict });
        if (!verdict.customer_success) blame("user");
        if (!verdict.tool_results_success) blame("environment");
        if (!verdict.representative_success) blame("agent");
      } else if (config.enable_termination) {
        const simulated = messages.filter(({ source }) => source !== "agent");
        const agent = messages.filter(({ source }) => source === "agent");
        for (const message of [...simulated, ...agent, undefined]) if (!(await passes(message))) break;
      } else for (const message of [...messages, undefined]) await passes(message);
    } catch (error) {
      if (!(error instanceof JudgeError)) throw error;
      found.reasons.push("verification_generation_error");
      found.labels.push("verification_generation_error");
      found.error = error.message;
    }
    return found;
  };
}

/** Asks until the reply has the form of a verdict. */
async function ask<Schema extends z.ZodType>(
  judge: Judge,
  prompt: string,
  schema: Schema,
  config: Config,
  signal: AbortSignal,
): Promise<z.output<Schema>> {
  const { reply } = await retryJudge(
    async () => {
      const { verdict } = await reach(judge, prompt, schema, config, signal);
      if (verdict === null) throw new JudgeError("The judge answered without a verdict in JSON.");
      return verdict;
    },
    { attempts: config.generation_attempts, delay: () => 0, signal },
  );
  return reply;
}

/** One reply. Errors of the endpoint that may pass are repeated; then they are an error of this server, so that the session is kept. */
async function reach<Schema extends z.ZodType>(
  judge: Judge,
  prompt: string,
  schema: Schema,
  config: Config,
  signal: AbortSignal,
) {
  const initial = config.judge_provider_retry_initial_backoff_seconds;
  const mayPass = (error: unknown) => {
    const status = judgeErrorStatus(error);
    return status !== undefined && ([408, 409, 425, 429].includes(status) || status >= 500);
  };
  try {
    const call = () => judge.ask(prompt, { signal, parse: (text) => jsonVerdict(text, schema) });
    const delay = (attempt: number) =>
      Math.min(initial * 2 ** (attempt - 1), config.judge_provider_retry_max_backoff_seconds);
    const attempts = config.judge_provider_attempts;
    return (await retryJudge(call, { attempts, delay, mayRetry: mayPass, signal })).reply;
  } catch (error) {
    const status = judgeErrorStatus(error);
    if (status === undefined || !(error instanceof JudgeError)) throw error;
    const retryable = mayPass(error);
    const failure = { class: "judge_failed", stage: "verify", retryable, message: error.message } as const;
    throw new HttpError(retryable ? 503 : status, error.message, { failure });
  }
}
