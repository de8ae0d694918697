import { defineResourcesServer } from "nemo-gym";
import { laxBool, laxFloat } from "nemo-gym/openai";
import { dumps, isObject, isTruthy, pyStr } from "nemo-gym/python";
import { z } from "zod";
import { type Arguments, argumentScore, familyOf, sameTarget, sameTool } from "./score.ts";
import { parseJson, readToolCalls, type TextCall } from "./tool-calls.ts";

const Config = z.object({
  reward_mode: z.enum(["binary", "continuous"]).default("binary"),
  enable_target_match: laxBool().default(true),
  argument_threshold: laxFloat().default(0.5),
  numeric_tolerance: laxFloat().default(1e-6),
  penalize_extra_tool_calls: laxBool().default(true),
  unify_region_inspect_tools: laxBool().default(true),
});
type Config = z.infer<typeof Config>;

const Row = z.object({
  uuid: z.union([z.string(), z.int()]).nullish(),
  expected_action: z.record(z.string(), z.unknown()).nullish(),
  expected_answer: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

interface Action {
  name: string;
  arguments: Arguments;
}

interface Verdict {
  reward: number;
  failure_reason: string;
  tool_name_match?: boolean;
  target_match?: boolean;
  argument_score?: number;
  argument_detail?: string;
}

const MAX_OUTPUT = 500;
const MAX_ARGUMENTS = 400;

/** One decision of a conversation with image tools, compared with the demonstrated one. */
export default defineResourcesServer({
  config: Config,
  seed: Row.refine((row) => expectedAction(row) !== undefined, { message: "expected_action is required" }),
  row: Row,
  echo: [],
  reverifyMode: "stateless",
  verify({ config, row, response }) {
    const { uuid = null, expected_action = null, metadata = null } = row;
    const nothing = {
      ...{ uuid, expected_action, metadata, model_output: "", tool_name_match: false },
      ...{ rollout_tool_name: null, expected_tool_name: null, target_match: null, argument_score: null },
      ...{ argument_detail: null, tool_family: null, num_rollout_tool_calls: 0 },
    };
    const expected = expectedAction(row);
    if (!expected) return { ...nothing, reward: 0, failure_reason: "expected_action_invalid" };
    const text = textOf(response);
    const calls = readToolCalls(text);
    const [call] = calls;
    if (!call) {
      const model_output = [...text.slice(-2 * MAX_OUTPUT)].slice(-MAX_OUTPUT).join("");
      return { ...nothing, model_output, reward: 0, failure_reason: "no_tool_call_in_rollout" };
    }
    const num_rollout_tool_calls = calls.length;
    const given = actionOf(call);
    if (!given) return { ...nothing, num_rollout_tool_calls, reward: 0, failure_reason: "unknown_error" };
    const verdict = judge(config, given, expected);
    const isExtra = config.penalize_extra_tool_calls && calls.length > 1;
    return {
      ...nothing,
      ...verdict,
      reward: isExtra ? 0 : verdict.reward,
      model_output: `${given.name}(${dumps(given.arguments).slice(0, MAX_ARGUMENTS)})`,
      rollout_tool_name: given.name,
      expected_tool_name: expected.name,
      tool_family: familyOf(expected.name),
      num_rollout_tool_calls,
    };
  },
});

/** Compares the tool, then the pictures, then the main argument. */
function judge(config: Config, given: Action, expected: Action): Verdict {
  if (!sameTool(given.name, expected.name, config.unify_region_inspect_tools))
    return { reward: 0, failure_reason: "tool_name_mismatch" };
  const family = familyOf(expected.name);
  const [a, b] = [given.arguments, expected.arguments];
  const target = config.enable_target_match ? { target_match: sameTarget(family, a, b) } : {};
  if (target.target_match === false)
    return { reward: 0, failure_reason: "target_mismatch", tool_name_match: true, ...target };
  const [argument_score, argument_detail] = argumentScore(family, a, b, config.numeric_tolerance);
  const isEnough = argument_score >= config.argument_threshold;
  return {
    reward: config.reward_mode === "binary" ? Number(isEnough) : argument_score,
    failure_reason: isEnough ? "none" : "argument_below_threshold",
    tool_name_match: true,
    ...target,
    argument_score,
    argument_detail,
  };
}

/** The call that the row expects; the first place that names a tool counts. */
function expectedAction({
  expected_action,
  metadata,
  expected_answer,
}: z.infer<typeof Row>): Action | undefined {
  const places = [
    expected_action,
    metadata?.["expected_action"],
    parseJson(expected_answer ?? "", undefined),
  ];
  for (const place of places) {
    if (!isObject(place) || !isTruthy(place["name"])) continue;
    const given = place["arguments"];
    const args = typeof given === "string" ? parseJson(given, undefined) : given;
    return { name: pyStr(place["name"]), arguments: isObject(args) ? withoutLabels(args) : {} };
  }
  return undefined;
}

function actionOf(call: TextCall): Action | undefined {
  if (!isObject(call.arguments)) return undefined;
  return { name: pyStr(call.name), arguments: withoutLabels(call.arguments) };
}

/** Labels are remarks of the model and no part of the decision. */
function withoutLabels({ label: _, labels: __, ...args }: Arguments): Arguments {
  return args;
}

/** The texts of all items with content, one per line. */
function textOf({ output }: { output: readonly object[] }): string {
  const parts = output.flatMap((item) =>
    "content" in item && Array.isArray(item.content) ? item.content : [],
  );
  return parts
    .flatMap((part: unknown) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}
