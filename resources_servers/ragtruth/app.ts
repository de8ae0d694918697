import { defineResourcesServer } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { dumps, isObject, JsonTextError, loads } from "nemo-gym/python";
import { z } from "zod";
import { hallucinationMetrics } from "./metrics.ts";
import { answerJson } from "./read-answer.ts";

const maxExtracted = 500;

const Row = z.looseObject({ is_halu: laxBool().default(false), task_type: z.string().default("") });

/** Hallucinations in answers that should follow a source: the model lists them, and the reward is whether there are any. */
export default defineResourcesServer({
  config: z.object({ think_tag: z.string().default("think") }),
  row: Row,
  seed: Row.extend({ is_halu: laxBool() }),
  reverifyMode: "stateless",
  metrics: hallucinationMetrics,
  verify({ config, row, response }) {
    const answer = parseObject(answerJson(outputText(response), config.think_tag));
    const list = answer?.["hallucination list"];
    const found = Array.isArray(list) && list.length > 0;
    return {
      reward: found === row.is_halu,
      is_halu: Number(row.is_halu),
      pred_halu: Number(found),
      parse_fail: Number(answer === undefined),
      extracted: Array.isArray(list) ? excerpt(dumps(list, { ensureAscii: false })) : "",
    };
  },
});

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = loads(text, { allowNonFinite: true });
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

function excerpt(text: string): string {
  return Array.from(text.slice(0, 2 * maxExtracted))
    .slice(0, maxExtracted)
    .join("");
}
