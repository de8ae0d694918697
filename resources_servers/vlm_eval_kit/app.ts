import { defineResourcesServer, type JsonObject } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";

/** In formulas only the symbols count, not the spaces between them. */
const FORMULAS = "Handwritten Mathematical Expression Recognition";
const GROUPED = "MMBench_DEV_EN_V11";

const Row = z.looseObject({
  benchmark_name: z.enum(["OCRBench"]),
  category: z.string(),
  /** As in the original, each character of a text counts as an answer; `seed` refuses such rows. */
  answer: z.union([z.array(z.string()), z.string()]),
});

/** Questions about pictures, scored by the rules of VLMEvalKit. */
export default defineResourcesServer({
  row: Row,
  seed: Row.extend({ answer: z.array(z.string().min(1)).min(1) }),
  reverifyMode: "stateless",
  metrics: { compute: (tasks) => groupScore(tasks.flat()), key: headlines },
  verify({ row: { category, answer }, response }) {
    const normalize = category === FORMULAS ? formula : plain;
    const given = normalize(outputText(response));
    const reward = Number([...answer].some((expected) => given.includes(normalize(expected))));
    return { reward, OCRBench: reward, [`OCRBench/${category}`]: reward };
  },
});

function formula(text: string): string {
  return strip(text).replaceAll("\n", " ").replaceAll(" ", "");
}

function plain(text: string): string {
  return strip(text.toLowerCase()).replaceAll("\n", " ");
}

/** Rows of a group have the same reward: the mean of one for each group. For result files of the original. */
function groupScore(rows: readonly JsonObject[]): JsonObject {
  const rewards = new Map<unknown, number>();
  for (const { benchmark_name, group, reward } of rows)
    if (benchmark_name === GROUPED && !rewards.has(group)) rewards.set(group, Number(reward));
  if (rewards.size === 0) return {};
  return { [GROUPED]: [...rewards.values()].reduce((sum, reward) => sum + reward, 0) / rewards.size };
}

function headlines(metrics: JsonObject): JsonObject {
  const names = ["mean/OCRBench", GROUPED].filter((name) => name in metrics);
  return Object.fromEntries(names.map((name) => [name, metrics[name]]));
}
