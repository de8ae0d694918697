import {
  type ChatMessage,
  type Completion,
  chatToResponses,
} from "../../../../libraries/swe/agent/conversation.ts";
import { resolvedOf, rewardOf } from "../../../../libraries/swe/report.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type FixtureRow, isObject } from "../rows.ts";

/** Cases of two functions of this agent: the rule of the reward, and the format of its conversations. */
export const adapter: Adapter = {
  caseOf(row) {
    if (row["kind"] === "is_resolved") return () => resolved(row);
    if (row["kind"] === "chat_to_responses") return () => converted(row);
    return undefined;
  },
};

function resolved({ instance_id, eval_report, expected }: FixtureRow): string | undefined {
  const id = String(instance_id);
  const actual = { resolved: resolvedOf(eval_report, id), reward: rewardOf(eval_report, id) };
  return difference(actual, expected, "result");
}

function converted({ messages, responses, expected }: FixtureRow): string | undefined {
  try {
    const output = chatToResponses(messages as ChatMessage[], responses as Completion[]);
    if (expected["exception"] !== undefined) return `expected a failure, got ${show(output)}`;
    const masked = output.map((item) => (isObject(item) && "id" in item ? { ...item, id: "<id>" } : item));
    return difference(masked, expected["output"], "output");
  } catch (error) {
    return expected["exception"] === undefined ? `threw ${error}` : undefined;
  }
}
