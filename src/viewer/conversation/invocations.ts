import type { JsonObject } from "../../base/python/json/door.ts";
import { listOf, numberOf, objectOf, textOf } from "./json-values.ts";
import { modelCalls, timelineStart, timesOf } from "./timeline.ts";

/** An agent in a rollout. Times are in seconds from `timelineStart`; null if none of its calls has a time. */
export interface InvocationView {
  id: string;
  /** Id of the parent agent; null for the outermost. */
  parent: string | null;
  /** The tool that started it, else its id. */
  name: string;
  /** Call id of that tool: links to the item of the conversation. */
  spawned_by: string | null;
  status: string;
  depth: number;
  from: number | null;
  to: number | null;
  model_calls: number;
  tool_calls: number;
}

/** The agents of a rollout, each followed by those it started; empty without recordings. */
export function invocationsOf(row: JsonObject): InvocationView[] {
  const trajectory = objectOf(row["ng_trajectory"]);
  const records = listOf(trajectory["invocations"]);
  const tools = listOf(trajectory["tool_calls"]);
  const calls = modelCalls(row);
  const start = timelineStart(row);
  const ids = new Set(records.map(({ invocation_id: id }) => id));
  const children = new Map<unknown, JsonObject[]>();
  for (const record of records) {
    const parent = ids.has(record["parent_invocation_id"]) ? record["parent_invocation_id"] : null;
    children.set(parent, [...(children.get(parent) ?? []), record]);
  }
  const found: InvocationView[] = [];
  const visit = (parent: unknown, depth: number): void => {
    const own = children.get(parent) ?? [];
    // Each agent is shown once, even if the parents form a cycle.
    children.delete(parent);
    for (const record of own) {
      found.push(viewOf(record, depth));
      visit(record["invocation_id"], depth + 1);
    }
  };
  const viewOf = (record: JsonObject, depth: number): InvocationView => {
    const id = String(record["invocation_id"]);
    const references = listOf(record["model_calls"]);
    const ownCalls = calls.filter((call) => references.some((reference) => isSameCall(reference, call)));
    const ownTools = tools.filter((tool) => tool["invocation_id"] === id);
    const times = [...ownCalls, ...ownTools]
      .flatMap((call) => timesOf(call) ?? [])
      .map((time) => time - start);
    const from = times.length > 0 ? Math.min(...times) : null;
    const last = times.length > 0 ? Math.max(...times) : null;
    const duration = numberOf(record["duration_ms"]);
    const spawnedBy = record["spawned_by_tool_call_id"];
    const spawn = tools.find((tool) => spawnedBy !== null && tool["tool_call_id"] === spawnedBy);
    return {
      id,
      parent: ids.has(record["parent_invocation_id"]) ? String(record["parent_invocation_id"]) : null,
      name: textOf(spawn?.["tool_name"]) ?? id,
      spawned_by: textOf(spawnedBy) ?? null,
      status: String(record["status"] ?? "unknown"),
      depth,
      from,
      to: from !== null && duration !== null ? Math.max(last ?? from, from + duration / 1000) : last,
      model_calls: references.length,
      tool_calls: ownTools.length,
    };
  };
  visit(null, 0);
  for (const parent of [...children.keys()]) visit(parent, 0);
  return found;
}

/** The agent of each model call, by call index, and of each tool call, by id. */
export interface CallOwners {
  models: (string | undefined)[];
  tools: Map<string, string>;
}

export function callOwners(row: JsonObject): CallOwners {
  const trajectory = objectOf(row["ng_trajectory"]);
  const invocations = listOf(trajectory["invocations"]).map((record) => ({
    id: String(record["invocation_id"]),
    references: listOf(record["model_calls"]),
  }));
  return {
    models: modelCalls(row).map(
      (call) =>
        invocations.find(({ references }) => references.some((reference) => isSameCall(reference, call)))?.id,
    ),
    tools: new Map(
      listOf(trajectory["tool_calls"]).map((tool) => [
        String(tool["tool_call_id"]),
        String(tool["invocation_id"]),
      ]),
    ),
  };
}

/** Whether a reference matches a call: by its id, or by its response id. */
function isSameCall(reference: JsonObject, call: JsonObject): boolean {
  const { model_call_id: id, response_id: response } = reference;
  if (typeof id === "string") return call["model_call_id"] === id;
  if (typeof response !== "string") return false;
  return call["response_id"] === response || objectOf(call["response"])["id"] === response;
}
