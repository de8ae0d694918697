import { defineResourcesServer, type JsonObject } from "nemo-gym";
import { laxBool, laxFloat, type Response } from "nemo-gym/openai";
import { dumps, isObject, loads } from "nemo-gym/python";
import { z } from "zod";
import { type Call, canRead, editText, sameTarget, sameTool, similarity } from "./compare-calls.ts";

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
    const { model_output } = called;
    const [call, wanted] = [called.call, expected.call];
    if (!sameTool(call, wanted)) return failed("tool_name_mismatch", { model_output });
    const found = { model_output, tool_name_match: true };
    if (!canRead(call, called.value) || !canRead(call, expected.value)) return failed("unknown_error", found);
    const target_match = config.enable_target_match ? sameTarget(call, wanted) : null;
    if (target_match === false) return failed("target_mismatch", { ...found, target_match });
    const score = config.enable_argument_similarity ? similarity(call, wanted) : null;
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

/** A call, and the value of its arguments, which may not be an object. */
interface Read {
  call: Call;
  value: unknown;
}

/** The expert's call, or why the row has none. */
function expectedCall({ expected_action, expected_answer, metadata }: z.output<typeof Row>): Read | string {
  const nested = (metadata as JsonObject | null | undefined)?.["expected_action"];
  const answer = typeof expected_answer === "string" ? parsed(expected_answer) : expected_answer;
  const named = isObject(answer) && "name" in answer ? answer : undefined;
  const action = [expected_action, named, nested].find(
    (each) => isObject(each) && each["type"] === "function_call",
  ) as JsonObject | undefined;
  if (action === undefined) return "expected_action_invalid";
  const { name, arguments: given } = action;
  return typeof name === "string" ? readCall(name, given) : "unknown_error";
}

function firstCall({ output }: Response): (Read & { model_output: string }) | undefined {
  const item = output.find(({ type }) => type === "function_call");
  if (item?.type !== "function_call") return undefined;
  const read = readCall(item.name, item.arguments);
  const shown = Array.from(dumps(read.value)).slice(0, LONGEST_SHOWN).join("");
  return { ...read, model_output: `${item.name}(${shown})` };
}

/** Arguments that are not JSON count as an empty object. */
function readCall(name: string, given: unknown): Read {
  const value = typeof given === "string" ? parsed(given) : isObject(given) ? given : undefined;
  const args = isObject(value) ? (value as JsonObject) : {};
  return { call: { name, args }, value: value === undefined ? {} : value };
}

/** The value of a JSON text, as Python reads it; undefined if the model or the author of the row did not write JSON. */
function parsed(text: string): unknown {
  try {
    return loads(text, { allowNonFinite: true });
  } catch {
    return undefined;
  }
}
