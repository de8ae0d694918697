import { errorMessage } from "../../errors.ts";
import { functionCallItem, messageItem } from "../../hosting/response-items.ts";
import { formatTemplate } from "../../python/format/format.ts";
import type { JsonObject } from "../../python/json/json-object.ts";
import { AuditError } from "../errors.ts";
import type { Attempt, ToolCall } from "./rollout.ts";
import type { GoldSettings } from "./settings.ts";

/** Row fields that hold the right answer, by the names environments use. */
const ANSWER_FIELDS = [
  "expected_answer",
  "answer",
  "ground_truth",
  "reference_answer",
  "gold_answer",
  "target",
];
const CALL_FIELDS = [
  "ground_truth",
  "expected_answers",
  "expected_action",
  "expected_call",
  "expected_calls",
];

/** The ways right answers are written; an environment wants one of them. */
const FORMS: readonly ((answer: string) => string)[] = [
  (answer) => answer,
  (answer) => `\\boxed{${answer}}`,
  (answer) => `Answer: ${answer}`,
  (answer) => `Final answer: ${answer}`,
  (answer) => `<answer>${answer}</answer>`,
  (answer) => `((${answer}))`,
];

/** Attempts of which at least one should earn the maximum; empty when the row does not have the right answer. */
export function goldAttempts(row: JsonObject, index: number, settings: GoldSettings | undefined): Attempt[] {
  if (settings !== undefined) return [declaredGold(row, index, settings)];
  const calls = CALL_FIELDS.map((field) => callsIn(row[field])).find((found) => found.length > 0);
  if (calls !== undefined) {
    const items = calls.map((call, at) => functionCallItem(call.name, call.arguments, `call_gold_${at}`));
    return [
      { policy: "gold calls", calls, items: [messageItem("Done.")] },
      { policy: "gold calls, not run", items },
    ];
  }
  const answer = ANSWER_FIELDS.map((field) => row[field]).find(
    (value) => (typeof value === "string" && value !== "") || typeof value === "number",
  );
  if (answer === undefined) return [];
  return FORMS.map((form) => ({ policy: "gold answer", items: [messageItem(form(String(answer)))] }));
}

function declaredGold(row: JsonObject, index: number, settings: GoldSettings): Attempt {
  const calls = settings.calls?.[index] ?? [];
  const given = settings.text === undefined ? undefined : fill(settings.text, row, index);
  const answer = settings.answers?.[index] ?? given;
  const policy = "gold answer";
  if (settings.run_calls) return { policy, calls, items: [messageItem(answer ?? "Done.")] };
  const items = calls.map((call, at) => functionCallItem(call.name, call.arguments, `call_gold_${at}`));
  return { policy, items: answer === undefined ? items : [...items, messageItem(answer)] };
}

function fill(template: string, row: JsonObject, index: number): string {
  try {
    return formatTemplate(template, row);
  } catch (error) {
    throw new AuditError(`gold.text of audit.yaml does not fit row ${index + 1}: ${errorMessage(error)}`);
  }
}

/** Calls written as `{name, arguments}`, alone or in a list. */
function callsIn(value: unknown): ToolCall[] {
  const list = Array.isArray(value) ? value : [value];
  const calls = list.filter(
    (entry): entry is ToolCall =>
      typeof entry === "object" &&
      entry !== null &&
      typeof (entry as ToolCall).name === "string" &&
      "arguments" in entry,
  );
  return calls.length === list.length
    ? calls.map(({ name, arguments: given }) => ({ name, arguments: given }))
    : [];
}
