import { compilePrompt, createJudge, defineResourcesServer, promptFrom } from "nemo-gym";
import { z } from "zod";
import { finalText, gradeRubric, rubricConfig } from "../../libraries/rubric/grade-rubric.ts";
import { readVerdict } from "./read-verdict.ts";
import { promptFields, Row, rubricOf, Task } from "./row.ts";

const SYSTEM = `You grade whether a reply follows its instructions, one criterion at a time. Be literal: the instructions may be unusual on purpose, and what a reply usually looks like does not count.

End with one JSON object: {"result": "PASS", "explanation": "..."} if the reply meets the criterion, else with "FAIL" as the result.`;

/** Unusual instructions: a judge decides for every criterion of a rubric whether the reply meets it. */
export default defineResourcesServer({
  config: z.object({
    ...rubricConfig,
    default_judge_prompt_template: z.string().nullish(),
    default_judge_system_prompt: z.string().default(SYSTEM),
  }),
  row: Row,
  seed: Task,
  start: async (server) => ({
    judge: createJudge(server, server.config),
    prompt: await promptFrom(
      server,
      server.config.default_judge_prompt_template,
      "prompts/judge.txt",
      promptFields,
    ),
  }),
  async verify({ config, state: { judge, prompt: defaultPrompt }, signal, row, response }) {
    const prompt = row.prompt || row.metadata?.prompt || "";
    const reference_response = row.reference_response || row.metadata?.reference_response || "";
    const generated_response = finalText(response);
    const template = row.judge_prompt_template ? compilePrompt(row.judge_prompt_template) : defaultPrompt;
    const systemMessage = row.judge_system_prompt || config.default_judge_system_prompt;
    const result = await gradeRubric(config, rubricOf(row), async ({ id = "", criteria = "" }) => {
      const judge_prompt = template.render({
        prompt: judge.fit(prompt),
        model_response: judge.fit(generated_response),
        standard_response: judge.fit(reference_response),
        criteria,
      });
      const asked = await judge.ask(judge_prompt, {
        signal,
        systemMessage,
        parse: (_, reply) => readVerdict(finalText(reply)),
      });
      const { verdict, explanation } = asked.verdict ?? { verdict: "FAIL", explanation: "" };
      return {
        criterion_id: id,
        criteria,
        judge_prompt,
        judge_response: finalText(asked),
        verdict,
        explanation,
        score: Number(verdict === "PASS"),
      };
    });
    return {
      ...result,
      prompt,
      generated_response,
      reference_response,
      // The evaluations contain the rubric and the prompts.
      rubric: undefined,
      judge_prompt_template: undefined,
      judge_system_prompt: undefined,
    };
  },
});
