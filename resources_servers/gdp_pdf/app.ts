import { createJudge, defineResourcesServer, JudgeError, judgeConfig, loadPromptYaml } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { isObject } from "nemo-gym/python";
import { z } from "zod";
import { gdpMetrics } from "./metrics.ts";
import { readScore } from "./score.ts";

const Config = z.object({
  ...judgeConfig,
  judge_chat_create_params: z.record(z.string(), z.unknown()).default({}),
  judge_prompt_path: z.string().default("prompts/judge.yaml"),
  /** Calls for each criterion, until the reply can be read. */
  judge_max_attempts: z.number().int().positive().default(5),
});

const Criterion = z.looseObject({ index: z.number().int(), criterion: z.unknown().optional() });

const RESPONSE_FORMAT = {
  type: "json_schema",
  json_schema: {
    name: "criterion_score",
    strict: true,
    schema: {
      type: "object",
      properties: { rationale: { type: "string" }, score: { type: "string", enum: ["0", "1"] } },
      required: ["rationale", "score"],
      additionalProperties: false,
    },
  },
};

/** Professional tasks about PDF files: a judge checks each criterion of a rubric. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({
    verifier_metadata: z.looseObject({
      criteria: z.array(Criterion).optional(),
      prompt: z.string().optional(),
      domain: z.string().nullish(),
    }),
  }),
  seed: z.looseObject({ verifier_metadata: z.looseObject({ criteria: z.array(Criterion).min(1) }) }),
  metrics: gdpMetrics,
  reverifyMode: "stateless",
  async start(server) {
    const { config } = server;
    const { user } = await loadPromptYaml(server, config.judge_prompt_path, [
      "response",
      "criterion",
      "task_prompt",
    ]);
    const params = { ...config.judge_chat_create_params, response_format: RESPONSE_FORMAT };
    return {
      judge: createJudge(server, config, { api: "chat", params, allowNoChoices: true }),
      prompt: user,
    };
  },
  async verify({ config, row, response, state: { judge, prompt }, signal }) {
    const { criteria = [], prompt: task = "" } = row.verifier_metadata;
    const answer = lastAnswer(response);
    const ask = async (criterion: string) => {
      const text = prompt.render({ response: judge.fit(answer), criterion, task_prompt: task });
      for (let attempt = 0; attempt < config.judge_max_attempts; attempt++) {
        const { verdict } = await judge.ask(text, {
          signal,
          parse: (_, reply) => readScore(outputText(reply)),
        });
        if (verdict) return verdict;
      }
      throw new JudgeError(`The judge gave no score in ${config.judge_max_attempts} replies.`);
    };
    const none = { passed: false, score: null, rationale: null };
    const evaluations = await Promise.all(
      criteria.map(async ({ index, criterion: given }) => {
        const criterion = String(given ?? "");
        return { index, criterion, ...(answer === "" ? none : await ask(criterion)) };
      }),
    );
    const passed = evaluations.filter((evaluation) => evaluation.passed).length;
    const share = criteria.length > 0 ? passed / criteria.length : 0;
    return {
      reward: share,
      num_criteria: criteria.length,
      num_criteria_passed: passed,
      all_pass: Number(share === 1),
      mean_criterion_pass: share,
      criterion_evaluations: evaluations,
      ...(criteria.length === 0 && { missing_rubric: true }),
    };
  },
});

/** The text of the last assistant message; its empty parts are skipped. */
function lastAnswer({ output }: { output: readonly unknown[] }): string {
  const message = output.findLast((item) => isObject(item) && item["type"] === "message");
  const parts = isObject(message) && Array.isArray(message["content"]) ? message["content"] : [];
  return parts
    .map((part: unknown) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .filter((text) => text !== "")
    .join("\n");
}
