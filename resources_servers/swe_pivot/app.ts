import { defineResourcesServer, type JsonObject } from "nemo-gym";
import { laxBool, laxFloat, type Response } from "nemo-gym/openai";
import { dumps, loadsPlain } from "nemo-gym/python";
import { z } from "zod";
import { type Call, editText, sameTarget, sameTool, similarity } from "./compare-calls.ts";

const LONGEST_SHOWN = 500;
const FULL_SIZE = 500;

const Config = z.object({
  reward_mode: z.string().default("binary"),
  enable_target_match: laxBool().default(true),
  enable_argument_similarity: laxBool().default(true),
  similarity_threshold: laxFloat().default(0.4),
  similarity_full_credit: laxFloat().default(0.8),
  enable_diff_size_shaping: laxBool().default(true),
  diff_size_alpha: laxFloat().default(0.1),
});

const Row = z.object({
  uuid: z.unknown().optional(),
  expected_action: z.unknown().optional(),
  /** The action as JSON text, for rows without `expected_action`. */
  expected_answer: z.unknown().optional(),
  metadata: z.unknown().optional(),
});

/** The next step of a software engineering trajectory: the first tool call must match the call of an expert. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Row.refine((row) => typeof expectedCall(row) === "object", {
    path: ["expected_action"],
    params: { pydantic: "missing" },
  }),
  echo: [],
  reverifyMode: "stateless",
  verify({ config, row, response }) {
    const about = {
      uuid: row.uuid ?? null,
      expected_answer: typeof row.expected_answer === "string" ? row.expected_answer : "",
      metadata: row.metadata ?? null,
    };
    const failed = (failure_reason: string, more: JsonObject = {}) => ({
      reward: 0,
      ...{ model_output: "", tool_name_match: false, target_match: null },
      ...{ similarity_score: null, diff_size_penalty: null, failure_reason },
      ...about,
      ...more,
    });
    const expected = expectedCall(row);
    if (typeof expected === "string") return failed(expected);
    const called = firstCall(response);
    if (called === undefined)
      return failed("model_output_invalid", { model_output: "(no function_call in response)" });
    const { call, model_output } = called;
    if (!sameTool(call, expected)) return failed("tool_name_mismatch", { model_output });
    const found = { model_output, tool_name_match: true };
    const target_match = config.enable_target_match ? sameTarget(call, expected) : null;
    if (target_match === false) return failed("target_mismatch", { ...found, target_match });
    const score = config.enable_argument_similarity ? similarity(call, expected) : null;
    const credit = score === null ? 1 : creditOf(score, config);
    const judged = { ...found, target_match, similarity_score: score };
    if (credit === 0) return failed("similarity_below_threshold", judged);
    const shaped = config.enable_diff_size_shaping && config.reward_mode === "continuous";
    const size = Math.min(Array.from(editText(call)).length / FULL_SIZE, 1);
    const penalty = shaped ? config.diff_size_alpha * size : null;
    return {
      ...failed("none", { ...judged, diff_size_penalty: penalty }),
      reward: credit * (1 - (penalty ?? 0)),
    };
  },
});

function creditOf(score: number, config: z.output<typeof Config>): number {
  const { reward_mode, similarity_threshold: least, similarity_full_credit: full } = config;
  if (score >= full) return 1;
  if (reward_mode === "binary" || score < least) return 0;
  return 0.5 + (0.5 * (score - least)) / (full - least);
}

/** The expert's call, or why the row has none. */
function expectedCall({ expected_action, expected_answer, metadata }: z.output<typeof Row>): Call | string {
  const nested = (metadata as JsonObject | null | undefined)?.["expected_action"];
  const candidates = [expected_action, parsed(expected_answer), nested].map(
    (each) => (each ?? {}) as JsonObject,
  );
  const action = candidates.find(({ type }) => type === "function_call");
  if (action === undefined) return "expected_action_invalid";
  const { name, arguments: given } = action;
  return typeof name === "string" ? { name, args: asObject(parsed(given)) } : "unknown_error";
}

function firstCall({ output }: Response): { call: Call; model_output: string } | undefined {
  const item = output.find(({ type }) => type === "function_call");
  if (item?.type !== "function_call") return undefined;
  const value = parsed(item.arguments) ?? {};
  const shown = Array.from(dumps(value)).slice(0, LONGEST_SHOWN).join("");
  return { call: { name: item.name, args: asObject(value) }, model_output: `${item.name}(${shown})` };
}

/** A value, or the value of a JSON text; undefined if the text is not valid JSON. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value ?? undefined;
  try {
    return loadsPlain(value);
  } catch {
    // The model or the author of the row did not write JSON.
    return undefined;
  }
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
