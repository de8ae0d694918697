import { isObject, type JsonObject, loads, orderedKeys } from "../../base/python/json/door.ts";
import { prettyJson } from "./content-parts.ts";
import type { ConversationItem } from "./conversation.ts";
import { listOf, objectOf, textOf } from "./json-values.ts";

/** Why a verifier gave its reward, in one line; `detail` shows more. */
export interface Reason {
  text: string;
  isGood: boolean;
  detail?: unknown;
}

const MAX_REASONS = 20;

/** What decided about the reward, as far as the row and its input say. */
export function reasonsOf(row: JsonObject, input: JsonObject, items: readonly ConversationItem[]): Reason[] {
  const all = [
    ...instructionReasons(row, input),
    ...testReasons(row),
    ...callReasons(row["ground_truth"] ?? input["ground_truth"], items),
    ...judgeReasons(row),
    ...["failure_reason", "invalid_reason"].flatMap((key) => {
      const text = textOf(row[key]);
      return text ? [{ text, isGood: false }] : [];
    }),
  ];
  return all.slice(0, MAX_REASONS);
}

/** Instructions of the task that the answer did not keep. */
function instructionReasons(row: JsonObject, input: JsonObject): Reason[] {
  const followed = row["follow_instruction_list"];
  if (!Array.isArray(followed)) return [];
  const ids = [row, objectOf(row["verifier_metadata"]), input, objectOf(input["verifier_metadata"])]
    .map((holder) => holder["instruction_id_list"])
    .find(Array.isArray);
  return followed.flatMap((isKept, place) =>
    isKept ? [] : [{ text: `Instruction not kept: ${String(ids?.[place] ?? place + 1)}`, isGood: false }],
  );
}

/** The tests of a program: a list of outcomes (true, or a code), and what the first failed test returned. */
function testReasons(row: JsonObject): Reason[] {
  const results = row["result"] ?? row["results"] ?? row["test_results"];
  if (!Array.isArray(results) || results.length === 0) return [];
  if (!results.every((each) => typeof each === "boolean" || typeof each === "number")) return [];
  const first = results.findIndex((each) => each !== true);
  if (first === -1) return [{ text: `All ${results.length} tests passed`, isGood: true }];
  const about = objectOf(row["metadata"]);
  const message = textOf(about["error_message"]) ?? textOf(about["error"]);
  const text = `Test ${first + 1} of ${results.length} failed${message ? `: ${message}` : ""}`;
  return [{ text, isGood: false, ...(orderedKeys(about).length > 0 && { detail: about }) }];
}

/** Expected tool calls against those that were made. */
function callReasons(expected: unknown, items: readonly ConversationItem[]): Reason[] {
  const wanted = listOf(expected);
  if (wanted.length === 0 || !wanted.every((each) => "name" in each && "arguments" in each)) return [];
  const made = items.flatMap(({ kind, source }) =>
    kind === "call" && isObject(source) ? [callText(source)] : [],
  );
  return wanted.map((call) => {
    const text = callText(call);
    const place = made.indexOf(text);
    if (place !== -1) {
      made.splice(place, 1);
      return { text: `Expected call made: ${text}`, isGood: true };
    }
    return { text: `Expected call not made: ${text}`, isGood: false };
  });
}

/** A call in one line, with its arguments in a fixed order. */
function callText({ name, arguments: given }: JsonObject): string {
  const values = typeof given === "string" ? parsed(given) : given;
  if (!isObject(values)) return `${String(name)}(${String(given)})`;
  const named = [...orderedKeys(values)]
    .sort()
    .map((key) => `${key}: ${prettyJson(values[key]).replace(/\s+/g, " ")}`);
  return `${String(name)}(${named.join(", ")})`;
}

function parsed(text: string): unknown {
  try {
    return loads(text, { allowNonFinite: true });
  } catch {
    return text;
  }
}

/** The verdicts of judges, and who judged. */
function judgeReasons(row: JsonObject): Reason[] {
  return listOf(row["judge_evaluations"]).flatMap((evaluation) => {
    const verdict = ["verdict_label", "verdict", "label", "score"]
      .map((key) => evaluation[key])
      .find((value) => typeof value === "string" || typeof value === "number");
    const who = textOf(objectOf(evaluation["response"])["model"]) ?? textOf(evaluation["model"]);
    if (verdict === undefined && who === undefined) return [];
    const text = `${who ?? "The judge"}: ${verdict === undefined ? "no verdict" : String(verdict)}`;
    return [{ text, isGood: row["reward"] !== undefined && Number(row["reward"]) > 0 }];
  });
}
