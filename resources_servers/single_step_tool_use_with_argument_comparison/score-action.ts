import type { FunctionCall, HasOutput } from "nemo-gym/openai";
import { functionCalls, ValidationError } from "nemo-gym/openai";
import { loads } from "nemo-gym/python";
import { CATEGORIES, type Category } from "./categories.ts";
import { type Thresholds, valueMismatch } from "./compare-values.ts";
import { matchCalls } from "./match-batch.ts";

export interface ComparatorOptions extends Thresholds {
  /** Whether the number of calls must match; otherwise a batch is correct as soon as every expected call was made. */
  rewardParallelCalls: boolean;
  allowSubset: boolean;
  allowSuperset: boolean;
  rewardMode: "binary_strict" | "fractional" | "f1";
}

export interface ExpectedFunctionCall {
  type: "function_call";
  name: string;
  arguments: string;
}

export type ExpectedAction =
  | { type: "message"; content: string }
  | ExpectedFunctionCall
  | { type: "function_call_batch"; calls: ExpectedFunctionCall[] };

export interface ActionScore {
  reward: number;
  category: Category;
}

/** Compares the step of the model with the step of an expert. */
export function scoreAction(
  expected: ExpectedAction,
  response: HasOutput,
  options: ComparatorOptions,
): ActionScore {
  const actual = functionCalls(response);
  if (actual.length === 0 && !hasChatMessage(response))
    return { reward: 0, category: CATEGORIES.noActionFound };
  if (expected.type === "message") {
    return actual.length === 0
      ? { reward: 1, category: CATEGORIES.expectedChatMessageFound }
      : { reward: 0, category: CATEGORIES.noExpectedChatMessage };
  }
  if (actual.length === 0) return { reward: 0, category: CATEGORIES.noExpectedToolCall };
  return scoreCalls(expected.type === "function_call" ? [expected] : expected.calls, actual, options);
}

function hasChatMessage(response: HasOutput): boolean {
  return response.output.some(
    (item) =>
      item.type === "message" &&
      (item.role ?? "assistant") === "assistant" &&
      Array.isArray(item.content) &&
      item.content.some((part) => part.type === "output_text"),
  );
}

function scoreCalls(
  expected: readonly ExpectedFunctionCall[],
  actual: readonly FunctionCall[],
  options: ComparatorOptions,
): ActionScore {
  const [e, a] = [expected.length, actual.length];
  const countAllowed =
    e === a || !options.rewardParallelCalls || (a < e ? options.allowSubset : options.allowSuperset);
  if (!countAllowed) return { reward: 0, category: CATEGORIES.batchLengthDifferent };
  const made = actual.map((call) => new ReadableCall(call));
  const mismatches = expected.map((call) => {
    const wanted = new ReadableCall(call);
    return made.map((given) => callMismatch(wanted, given, options));
  });
  const partners = matchCalls(mismatches.map((row) => row.map((mismatch) => mismatch === undefined)));
  const matched = partners.filter((partner) => partner >= 0).length;
  const reward = rewardOf(matched, e, a, options);
  if (reward === 1) {
    return { reward, category: e === 1 ? CATEGORIES.expectedToolCall : CATEGORIES.expectedToolCallBatch };
  }
  if (matched === e || matched === a) return { reward, category: CATEGORIES.batchLengthDifferent };
  const reasons = mismatches[partners.indexOf(-1)] ?? [];
  const telling = reasons.find((reason) => reason !== undefined && reason !== CATEGORIES.unexpectedTool);
  return { reward, category: telling ?? CATEGORIES.unexpectedTool };
}

function rewardOf(matched: number, expected: number, actual: number, options: ComparatorOptions): number {
  if (!options.rewardParallelCalls) return matched === expected ? 1 : 0;
  if (options.rewardMode === "f1") return (2 * matched) / (expected + actual);
  const required = options.allowSubset ? Math.min(expected, actual) : expected;
  return options.rewardMode === "fractional" ? matched / required : Number(matched === required);
}

/** A call whose arguments are parsed once, and only if the names match. */
class ReadableCall {
  readonly name: string;
  readonly text: string;
  #value: { value: unknown } | undefined | null = null;

  constructor(call: { name: string; arguments: string }) {
    this.name = call.name;
    this.text = call.arguments;
  }

  /** The value of the JSON text; undefined if it is not valid JSON. */
  read(): { value: unknown } | undefined {
    if (this.#value === null) this.#value = readJson(this.text);
    return this.#value;
  }
}

function callMismatch(
  expected: ReadableCall,
  actual: ReadableCall,
  thresholds: Thresholds,
): Category | undefined {
  if (expected.name !== actual.name) return CATEGORIES.unexpectedTool;
  const given = actual.read();
  if (given === undefined) return CATEGORIES.argumentsDecodeError;
  const wanted = expected.read();
  if (wanted !== undefined) return valueMismatch(wanted.value, given.value, thresholds);
  throw new ValidationError([
    {
      type: "json_invalid",
      loc: ["body", "expected_action", "arguments"],
      msg: "Input should be JSON text",
      input: expected.text,
    },
  ]);
}

function readJson(text: string): { value: unknown } | undefined {
  try {
    return { value: loads(text, { allowNonFinite: true }) };
  } catch {
    return undefined;
  }
}
