import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { pyStr } from "nemo-gym/python";
import { z } from "zod";
import { extractAnswer } from "./extract-answer.ts";
import { candidateLabels, labelKey, matchLabel } from "./labels.ts";
import { spartqaMetrics } from "./metrics.ts";

const maxExtracted = 200;

const Row = z.looseObject({
  target: z.string().default(""),
  options: z.array(z.string()).default([]),
  verifier_metadata: z
    .looseObject({ target: z.unknown(), options: z.array(z.unknown()).nullish() })
    .nullable()
    .default(null),
});
/** A row that can be scored. */
const Task = Row.refine(({ target, verifier_metadata }) => target !== "" || verifier_metadata?.target, {
  path: ["target"],
  params: { pydantic: "missing" },
});

/** Questions about the places of objects: one of two objects, both of them, or none of them. */
export default defineResourcesServer({
  row: Row,
  seed: Task,
  reverifyMode: "stateless",
  metrics: spartqaMetrics,
  verify({ row, response }) {
    const metadata = row.verifier_metadata;
    const target = row.target || pyStr(metadata?.target ?? "");
    const options =
      row.options.length > 0 ? row.options : (metadata?.options ?? []).map((item) => pyStr(item));
    const extracted = extractAnswer(outputText(response));
    const label = matchLabel(extracted, candidateLabels(options.length > 0 ? options : [target]));
    const gold = labelKey(target);
    const correct = gold !== "" && label !== undefined && labelKey(label) === gold;
    return {
      reward: correct,
      exact: correct && labelKey(extracted) === gold,
      parsed: extracted !== "",
      extracted: Array.from(extracted).slice(0, maxExtracted).join(""),
      predicted_label: label ?? "",
    };
  },
});
