import {
  type ChatMessage,
  type Completion,
  chatToResponses,
} from "../../../libraries/swe/agent/conversation.ts";
import { resolvedOf, rewardOf } from "../../../libraries/swe/report.ts";
import type { Adapter } from "./adapters.ts";
import { difference, show } from "./compare.ts";
import { type FixtureRow, isObject } from "./rows.ts";

/** Cases of two functions of this agent: the rule of the reward, and the format of its conversations. */
export const adapter: Adapter = {
  run(row) {
    if (row["kind"] === "is_resolved") return Promise.resolve(resolved(row));
    if (row["kind"] === "chat_to_responses") return Promise.resolve(converted(row));
    return undefined;
  },
};

const outcome = (error: string | undefined) => (error === undefined ? {} : { error });

function resolved({ instance_id, eval_report, expected }: FixtureRow) {
  const id = String(instance_id);
  const actual = { resolved: resolvedOf(eval_report, id), reward: rewardOf(eval_report, id) };
  return outcome(difference(actual, expected, "result", { tolerance: 0 }));
}

function converted({ messages, responses, expected }: FixtureRow) {
  try {
    const output = chatToResponses(messages as ChatMessage[], responses as Completion[]);
    if (expected["exception"] !== undefined) return { error: `expected a failure, got ${show(output)}` };
    const masked = output.map((item) => (isObject(item) && "id" in item ? { ...item, id: "<id>" } : item));
    return outcome(difference(masked, expected["output"], "output", { tolerance: 0 }));
  } catch (error) {
    return expected["exception"] === undefined ? { error: `threw ${error}` } : {};
  }
}
