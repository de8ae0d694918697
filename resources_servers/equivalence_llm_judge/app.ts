import { createJudge, defineResourcesServer, type JsonObject, loadPromptText } from "nemo-gym";
import { lastAssistantText } from "nemo-gym/openai";
import { codePointLength } from "nemo-gym/python";
import { lastUserText } from "nemo-gym/verify";
import { Config } from "./config.ts";
import { extractAnswer } from "./extract.ts";
import { issueMetrics } from "./metrics.ts";
import { expectedAnswer, Row, rowPattern, Task } from "./row.ts";
import { meansEqual, readVerdict } from "./verdict.ts";

const PROMPT_FIELDS = ["question", "expected_answer", "generated_answer"];

interface Evaluation extends JsonObject {
  responses_create_params: JsonObject;
  response: JsonObject;
  verdict_label: string | null;
  judgement_parsing_issues?: string[];
}

export default defineResourcesServer({
  name: "equivalence_llm_judge",
  config: Config,
  row: Row,
  seed: Task,
  echo: [],
  metrics: issueMetrics,
  async start(server) {
    const { config } = server;
    if (config.judge_prompt_template) {
      server.log.warn(
        "judge_prompt_template is ignored; put the text into a file named by judge_prompt_template_fpath.",
      );
    }
    const prompt = await loadPromptText(server, config.judge_prompt_template_fpath, PROMPT_FIELDS);
    return { judge: createJudge(server, config, { systemMessage: config.judge_system_message }), prompt };
  },
  async verify({ config, state: { judge, prompt }, signal, row, response, params }) {
    const expected = expectedAnswer(row);
    const input = Array.isArray(params.input) ? params.input : [];
    const question = extractAnswer(lastUserText(input), config.question_extract_regex);
    const full = lastAssistantText(response);
    const unjudged = unjudgedReason(full, config.max_answer_chars);
    if (unjudged !== undefined)
      return { reward: 0, expected_answer: expected, judge_evaluations: [], failure_reason: unjudged };

    const ownPattern = config.use_per_record_regex ? rowPattern(row) : undefined;
    const threshold = config.extraction_length_threshold;
    const tooLong = ownPattern !== undefined && threshold !== null && codePointLength(expected) > threshold;
    const pattern = tooLong ? null : (ownPattern ?? config.response_extract_regex);
    const generated = extractAnswer(full, pattern);

    const evaluations: Evaluation[] = [];
    const judgeEqual = async (gold: string, answer: string): Promise<boolean> => {
      const text = prompt.render({
        question: judge.fit(question),
        expected_answer: judge.fit(gold),
        generated_answer: judge.fit(answer),
      });
      const { verdict, ...reply } = await judge.ask(text, {
        signal,
        parse: (_, { response }) => readVerdict(response, config).label,
      });
      const { issues } = readVerdict(reply.response, config);
      evaluations.push({
        responses_create_params: reply.params,
        response: reply.response,
        verdict_label: verdict,
        ...(issues.length > 0 && { judgement_parsing_issues: issues }),
      });
      return meansEqual(verdict, config);
    };

    const score = async (): Promise<number> => {
      if (await judgeEqual(expected, generated)) {
        if (!config.check_twice_swap || tooLong) return 1;
        return (await judgeEqual(generated, expected)) ? 1 : config.reward_if_swap_fails;
      }
      if (tooLong || !config.check_full_generation_on_fail || ownPattern === undefined) return 0;
      return (await judgeEqual(expected, full)) ? config.reward_if_full_generation_succeeds : 0;
    };
    const reward = await score();
    return { reward, expected_answer: expected, judge_evaluations: evaluations };
  },
});

/** Why an answer gets 0 without a judge. */
function unjudgedReason(answer: string, maxChars: number | null | undefined): string | undefined {
  if (answer === "") return "empty_final_answer";
  const length = codePointLength(answer);
  return maxChars != null && length > maxChars
    ? `final_answer_too_long: ${length} characters exceeds ${maxChars}`
    : undefined;
}
