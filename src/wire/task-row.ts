import { isObject } from "../base/python/json/door.ts";

/** Whether a row is a task of a taskset, `{task_id: {taskset, task_id}, task_input}`, and names no agent. */
export function isTaskRow(row: Readonly<Record<string, unknown>>): boolean {
  return isObject(row["task_id"]) && row["task_input"] !== undefined;
}
