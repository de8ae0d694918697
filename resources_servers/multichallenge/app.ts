import { createJudge, defineResourcesServer, promptFrom } from "nemo-gym";
import { lastLabel } from "nemo-gym/verify";
import { z } from "zod";
import { finalText, gradeRubric, rubricConfig } from "../../libraries/rubric/grade-rubric.ts";
import { contextOf, Row, rubricOf, Task } from "./row.ts";

const SYSTEM =
  "You check replies of a chat assistant against one criterion at a time. Judge only what the reply says.";

/** Several turns of chat: a judge answers a yes-or-no question about the last reply for every item of a rubric. */
export default defineResourcesServer({
  config: z.object({
    ...rubricConfig,
    judge_prompt_template: z.string().nullish(),
    judge_system_message: z.string().nullable().default(SYSTEM),
    yes_label: z.string().default("[[YES]]"),
    no_label: z.string().default("[[NO]]"),
  }),
  row: Row,
  seed: Task,
  async start(server) {
    const { judge_prompt_template: text, judge_system_message: systemMessage } = server.config;
    const fields = ["context", "response", "question", "pass_criteria"];
    const prompt = await promptFrom(server, text, "prompts/judge.txt", fields);
    return { judge: createJudge(server, server.config, { systemMessage }), prompt };
  },
  async verify({ config, state: { judge, prompt }, signal, row, response: rollout }) {
    const context = contextOf(row);
    const response = finalText(rollout);
    const result = await gradeRubric(config, rubricOf(row), async (item) => {
      const { question = "", pass_criteria = "YES", weight = 1 } = item;
      const judge_prompt = prompt.render({
        context: judge.fit(context),
        response: judge.fit(response),
        question,
        pass_criteria,
      });
      const asked = await judge.ask(judge_prompt, {
        signal,
        parse: (_, reply) => readVerdict(finalText(reply), config),
      });
      const judge_response = finalText(asked);
      const verdict = asked.verdict ?? anyVerdict(judge_response);
      const score = Number(verdict === (pass_criteria.toUpperCase() === "NO" ? "NO" : "YES"));
      return { question, pass_criteria, judge_prompt, judge_response, verdict, score, weight };
    });
    // The evaluations contain the rubric.
    return { ...result, rubric: undefined, context, generated_response: response };
  },
});

/** The last label; without one, a word of the last line, where YES takes precedence. */
function readVerdict(text: string, labels: { yes_label: string; no_label: string }): "YES" | "NO" | null {
  const label = lastLabel(text, [labels.yes_label, labels.no_label]);
  if (label !== null) return label === labels.yes_label ? "YES" : "NO";
  const words = lastLine(text).split(/[^A-Z]+/);
  if (words.includes("YES")) return "YES";
  return words.includes("NO") ? "NO" : null;
}

/** The verdict of an unreadable reply, as in the original. */
function anyVerdict(text: string): "YES" | "NO" {
  return lastLine(text).includes("YES") ? "YES" : "NO";
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1).toUpperCase();
}
