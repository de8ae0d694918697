import type { Adapter } from "../adapters.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { isObject } from "../rows.ts";
import type { RecordedCall } from "../scripted-servers.ts";

/** The check that a call belongs to; both run at once. */
function checkOf({ body }: RecordedCall): string {
  const text = JSON.stringify(isObject(body["response_format"]) ? body["response_format"] : {});
  return text.includes("bbq_answer_check") ? "answer_check" : "explanation_quality_check";
}

export const adapter: Adapter = {
  judgeKey: checkOf,
  judgeCalls: (calls, expected) =>
    judgeCallsDifference(
      [...calls].sort((left, right) => checkOf(left).localeCompare(checkOf(right))),
      expected,
    ),
};
