import { isObject } from "../../base/python/json/door.ts";
import type { Row } from "../../records/files/door.ts";
import { failureMembers } from "../../servers/definitions/door.ts";
import { isTaskRow } from "../../wire/door.ts";
import { type Outcome, outcomeOfReply } from "./outcome.ts";

/** Members of a result that only the run may set. */
const OWN_MEMBERS = /^(?:_ng_|ng_(?:trajectory|model_call_capture|perf)$)/;

/** The body of `/run`: the row, or the episode of a task of a taskset. */
export function runBody(row: Row): Row {
  if (!isTaskRow(row)) return row;
  const { _ng_rollout_id: id, _ng_task_index: task, _ng_rollout_index: rollout } = row;
  const episode_id = { rollout_id: id ?? `${task}-${rollout}`, attempt: row["_ng_attempt_index"] ?? 0 };
  return { episode_id, task: { task_id: row["task_id"], task_input: row["task_input"] } };
}

/** The outcome of a reply to `runBody`. */
export function outcomeOfRun(reply: unknown, row: Row, server: string): Outcome {
  return outcomeOfReply(isTaskRow(row) ? rowOfEpisode(reply, row, server) : reply, server);
}

/** The result of an episode, with the task that it belongs to. Other replies stay as they are. */
function rowOfEpisode(reply: unknown, { task_id }: Row, server: string): unknown {
  if (!isObject(reply) || !isObject(reply["episode_id"]) || !isObject(reply["task_id"])) return reply;
  const { result, failure } = reply;
  if (isObject(failure)) return { ...failureMembers(failure), _ng_task_id: task_id };
  if (!isObject(result)) return reply;
  const own = Object.keys(result).filter((key) => OWN_MEMBERS.test(key));
  if (own.length === 0) return { ...result, _ng_task_id: task_id };
  const message = `${server} answered with members that only the run sets: ${own.join(", ")}.`;
  return { _ng_failure_class: "invalid_response", _ng_failure_message: message, _ng_task_id: task_id };
}
