import { createJudge, defineResourcesServer, type JsonObject, loadPromptText } from "nemo-gym";
import { lastAssistantText } from "nemo-gym/openai";
import { codePointLength } from "nemo-gym/python";
import { firstLabel, lastPartOfLastMessage, lastUserText } from "nemo-gym/verify";
import { Config } from "./config.ts";
import { extractAnswer } from "./extract.ts";
import { expectedAnswer, Row, rowPattern, Task } from "./row.ts";

const PROMPT_FIELDS = ["question", "expected_answer", "generated_answer"];

interface Evaluation extends JsonObject {
  responses_create_params: JsonObject;
  response: JsonObject;
  verdict_label: string | null;
}

export default defineResourcesServer({
  name: "equivalence_llm_judge",
  config: Config,
  row: Row,
  seed: Task,
  echo: [],
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

    const ownPattern = config.use_per_record_regex ? rowPattern(row) : undefined;
    const threshold = config.extraction_length_threshold;
    const tooLong = ownPattern !== undefined && threshold !== null && codePointLength(expected) > threshold;
    const pattern = tooLong ? null : (ownPattern ?? config.response_extract_regex);
    const candidate = (text: string) => (text === "" ? config.msg_extraction_failure : text);
    const generated = full === "" ? config.msg_extraction_failure : extractAnswer(full, pattern);

    const evaluations: Evaluation[] = [];
    const judgeEqual = async (gold: string, answer: string): Promise<boolean> => {
      const text = prompt.render({
        question: judge.fit(question),
        expected_answer: judge.fit(gold),
        generated_answer: judge.fit(answer),
      });
      // If both labels start at the same position, the label that denies the reward wins.
      const labels = [config.judge_not_equal_label, config.judge_equal_label];
      const { verdict, ...reply } = await judge.ask(text, {
        signal,
        parse: (_, reply) => firstLabel(lastPartOfLastMessage(reply) ?? "", labels),
      });
      evaluations.push({
        responses_create_params: reply.params,
        response: reply.response,
        verdict_label: verdict,
      });
      return verdict === config.judge_equal_label;
    };

    const score = async (): Promise<number> => {
      if (await judgeEqual(expected, generated)) {
        if (!config.check_twice_swap || tooLong) return 1;
        return (await judgeEqual(generated, expected)) ? 1 : config.reward_if_swap_fails;
      }
      if (tooLong || !config.check_full_generation_on_fail || ownPattern === undefined) return 0;
      return (await judgeEqual(expected, candidate(full))) ? config.reward_if_full_generation_succeeds : 0;
    };
    const reward = await score();
    return { reward, expected_answer: expected, judge_evaluations: evaluations };
  },
});
