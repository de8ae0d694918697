import { GymError } from "../base/errors.ts";
import { pyStr } from "../base/python/door.ts";
import { isObject, type JsonObject } from "../base/python/json/door.ts";

/** Whether a row is a task of a taskset, `{task_id: {taskset, task_id}, task_input}`, and names no agent. */
export function isTaskRow(row: Readonly<Record<string, unknown>>): boolean {
  return isObject(row["task_id"]) && row["task_input"] !== undefined;
}

/** Members of a row that route it and are no part of its task. */
const ROUTING = new Set(["agent_ref", "task_source", "skills_ref"]);
/** Members that may identify a task, the first one present counts. */
const TASK_IDS = ["task_id", "problem_id", "instance_id"];

/** A row as a task of a taskset: `{task_id, task_input}`. */
export interface MaterializedTask {
  task_id: { taskset: string; task_id: string };
  task_input: JsonObject;
}

/** Turns a flat row into a task of a taskset. */
export function materializeTask(row: Readonly<JsonObject>, taskset: string): MaterializedTask {
  if (isTaskRow(row)) throw new GymError("EPISODE_ROW", "the row already is a task of a taskset.");
  const key = TASK_IDS.find((name) => (row[name] ?? null) !== null);
  const id = key === undefined ? indexOf(row) : pyStr(row[key]);
  const own = Object.entries(row).filter(([name]) => !ROUTING.has(name) && !name.startsWith("_ng_"));
  return { task_id: { taskset, task_id: id }, task_input: Object.fromEntries(own) };
}

function indexOf(row: Readonly<JsonObject>): string {
  const index = row["_ng_task_index"];
  if (typeof index === "number" && Number.isInteger(index)) return String(index);
  throw new GymError("EPISODE_ROW", `the row has none of ${TASK_IDS.join(", ")} and no _ng_task_index.`);
}
