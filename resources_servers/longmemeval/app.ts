import { createJudge, defineResourcesServer, JudgeError, judgeConfig, loadPromptYaml } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { isTruthy, pyStr, strip } from "nemo-gym/python";
import { judgeErrorStatus, requireJudgeText, retryJudge, stripThinkPairs } from "nemo-gym/verify";
import { z } from "zod";
import { longmemevalMetrics } from "./metrics.ts";
import { rubricFor } from "./rubrics.ts";

const MAX_DELAY_SECONDS = 30;
const MAX_GENERATION = 500;

/** Anything but an empty value becomes a text, as in the original. */
const text = z
  .unknown()
  .optional()
  .transform((value) => (isTruthy(value) ? pyStr(value) : ""));

const Metadata = z.looseObject({
  question_id: text,
  question_type: text,
  question: text,
  answer: text,
  abstention: z.unknown().optional().transform(isTruthy),
});

const filled = z.union([z.string().min(1), z.number()]);
const Task = z.looseObject({
  verifier_metadata: z
    .looseObject({
      question: filled,
      answer: filled,
      question_id: z.unknown().optional(),
      question_type: filled,
      abstention: z.unknown().optional(),
    })
    .refine((given) => rubricFor(Metadata.parse(given)) !== undefined, {
      error: "is not a known type of question",
      path: ["question_type"],
    }),
});

/** Questions about a long history of chats: a judge decides by the rules of the question's type. */
export default defineResourcesServer({
  config: z.object({
    ...judgeConfig,
    judge_endpoint_max_concurrency: judgeConfig.judge_endpoint_max_concurrency.default(32),
    /** Number of further calls after a 429 or a server error. */
    judge_max_retries: z.int().nonnegative().default(5),
    /** Seconds before the first further call; the time doubles up to 30 s. */
    judge_retry_base_delay: z.number().nonnegative().default(1),
    /** As in the original: a judge that fails or answers nothing gives 0 instead of failing the rollout. */
    failed_judge_scores_zero: laxBool().default(false),
    /** As in the original: any "yes" in a reply counts, even inside "yesterday" or "No, not yes". */
    any_yes_counts: laxBool().default(false),
  }),
  row: z.looseObject({ verifier_metadata: z.looseObject({}).nullish() }),
  seed: Task,
  metrics: longmemevalMetrics,
  start: async (server) => ({
    judge: createJudge(server, server.config),
    prompt: (await loadPromptYaml(server, "prompts/judge.yaml", ["rubric", "question", "answer", "response"]))
      .user,
  }),
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    const metadata = Metadata.parse(row.verifier_metadata ?? {});
    const { question, answer, question_id, question_type } = metadata;
    const generation = withoutReasoning(outputText(response));
    const result = {
      reward: 0,
      verifier_metadata: row.verifier_metadata ?? null,
      question_id,
      question_type,
      abstention: metadata.abstention || question_id.includes("_abs"),
      judge_label: false,
      judge_raw: "",
      judge_error: null,
      judge_error_detail: "",
      empty_response: false,
      generation: Array.from(generation.slice(0, 2 * MAX_GENERATION))
        .slice(0, MAX_GENERATION)
        .join(""),
    };
    if (question === "" || question_type === "") return { ...result, judge_error: "bad_metadata" };
    const rubric = rubricFor(metadata);
    if (rubric === undefined) return { ...result, judge_error: "unknown_question_type" };
    if (generation === "") return { ...result, empty_response: true };

    const request = prompt.render({
      rubric,
      question,
      answer: judge.fit(answer),
      response: judge.fit(generation),
    });
    const read = config.any_yes_counts ? readAnyYes : readLabel;
    try {
      const { reply } = await retryJudge(
        () => judge.ask(request, { signal, parse: (_, reply) => read(withoutReasoning(outputText(reply))) }),
        {
          attempts: config.judge_max_retries + 1,
          delay: (attempt) => Math.min(config.judge_retry_base_delay * 2 ** (attempt - 1), MAX_DELAY_SECONDS),
          mayRetry: isPassing,
          signal,
        },
      );
      const judge_raw = withoutReasoning(outputText(reply));
      if (!config.failed_judge_scores_zero) requireJudgeText(reply, judge_raw);
      else if (judge_raw === "") return { ...result, judge_error: "empty_judge_output" };
      const judge_label = reply.verdict === true;
      return { ...result, reward: Number(judge_label), judge_label, judge_raw };
    } catch (error) {
      if (!config.failed_judge_scores_zero || !(error instanceof JudgeError)) throw error;
      return { ...result, judge_error: "judge_call_failed", judge_error_detail: error.message };
    }
  },
});

/** Whether a failure may go away. */
function isPassing(error: JudgeError): boolean {
  const status = judgeErrorStatus(error) ?? 0;
  return status === 429 || status >= 500;
}

/**
 * The verdict of the lines that begin with one; without such a line, that of all words. Null if there is none, or if
 * they contradict each other: a judge may quote the response.
 */
function readLabel(reply: string): boolean | null {
  const [line, ...otherLines] = verdictsIn(reply, /^[\s*_#>-]*(yes|no)\b/gim);
  if (line !== undefined) return otherLines.length === 0 ? line === "yes" : null;
  const [word, ...otherWords] = verdictsIn(reply, /\b(yes|no)\b/gi);
  return word === undefined || otherWords.length > 0 ? null : word === "yes";
}

function verdictsIn(text: string, pattern: RegExp): Set<string> {
  return new Set(Array.from(text.matchAll(pattern), ([, verdict = ""]) => verdict.toLowerCase()));
}

/** The rule of the original; null if there is no "no" either. */
function readAnyYes(reply: string): boolean | null {
  if (/yes/i.test(reply)) return true;
  return /\bno\b/i.test(reply) ? false : null;
}

/** The text without reasoning; reasoning that never ends is cut off. */
function withoutReasoning(text: string): string {
  const start = text.indexOf("<think>");
  return start >= 0 && !text.includes("</think>") ? strip(text.slice(0, start)) : stripThinkPairs(text);
}
