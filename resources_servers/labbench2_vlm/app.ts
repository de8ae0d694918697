import { createJudge, defineResourcesServer, judgeConfig, loadPromptText } from "nemo-gym";
import { lastAssistantText, laxBool } from "nemo-gym/openai";
import { isObject, pyStr, strip } from "nemo-gym/python";
import { firstLabel, lastPartOfLastMessage, onlyLabel } from "nemo-gym/verify";
import { z } from "zod";
import { labbenchMetrics } from "./metrics.ts";

/** `ideal`, `tag` and `reference_passage`, of any type; others are kept. */
const Metadata = z.record(z.string(), z.unknown());
const fields = ["question", "expected_answer", "generated_answer"];

/** Questions about figures, tables and protocols of biology; a judge compares the answer with the right one. */
export default defineResourcesServer({
  config: z.object({
    ...judgeConfig,
    judge_prompt_template_fpath: z.string().default("prompt_templates/judge.txt"),
    /** For questions about protocols, with the field `reference_passage`. */
    judge_prompt_template_protocol_fpath: z.string().default("prompt_templates/judge_protocol.txt"),
    /** As in the original: the first verdict of a reply counts, whatever follows. Default: a reply with both has none. */
    first_verdict_counts: laxBool().default(false),
    judge_equal_label: z.string().min(1).default("[[A=B]]"),
    judge_not_equal_label: z.string().min(1).default("[[A!=B]]"),
  }),
  row: z.looseObject({ verifier_metadata: Metadata.nullish().default(null) }),
  seed: z.looseObject({
    verifier_metadata: z.looseObject({
      ideal: z.union([z.string(), z.number(), z.array(z.unknown())], { error: "Field required" }),
    }),
  }),
  reverifyMode: "stateless",
  metrics: labbenchMetrics,
  start: async (server) => ({
    judge: createJudge(server, server.config),
    prompt: await loadPromptText(server, server.config.judge_prompt_template_fpath, fields),
    protocolPrompt: await loadPromptText(server, server.config.judge_prompt_template_protocol_fpath, [
      ...fields,
      "reference_passage",
    ]),
  }),
  async verify({ config, row, params, response, state: { judge, prompt, protocolPrompt }, signal }) {
    const metadata: Record<string, unknown> = row.verifier_metadata ?? {};
    const told = (name: string) => (Object.hasOwn(metadata, name) ? pyStr(metadata[name]) : "");
    const values = {
      question: judge.fit(questionOf(params.input)),
      expected_answer: judge.fit(told("ideal")),
      generated_answer: judge.fit(lastAssistantText(response)),
    };
    const text = told("tag").startsWith("protocolqa2")
      ? protocolPrompt.render({ ...values, reference_passage: judge.fit(told("reference_passage")) })
      : prompt.render(values);
    const labels = [config.judge_equal_label, config.judge_not_equal_label];
    const read = config.first_verdict_counts ? firstLabel : onlyLabel;
    const asked = await judge.ask(text, {
      signal,
      parse: (_, reply) => read(lastPartOfLastMessage(reply) ?? "", labels),
    });
    return {
      reward: asked.verdict === config.judge_equal_label ? 1 : 0,
      judge_evaluations: [
        { responses_create_params: asked.params, response: asked.response, verdict_label: asked.verdict },
      ],
    };
  },
});

/** The last text of the last user message; its pictures come before it. */
function questionOf(input: unknown): string {
  if (typeof input === "string") return strip(input);
  const messages = Array.isArray(input)
    ? input.filter((item) => isObject(item) && item["role"] === "user")
    : [];
  for (const { content } of messages.reverse()) {
    if (typeof content === "string") return strip(content);
    const texts = (Array.isArray(content) ? content : []).filter((part) => part?.type === "input_text");
    if (texts.length > 0) return strip(String(texts.at(-1).text ?? ""));
  }
  return "";
}
