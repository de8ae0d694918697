import { createHash } from "node:crypto";
import { dumps, loads } from "../../../base/python/json/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import {
  type AtifContent,
  type AtifResult,
  type AtifStep,
  AtifTrajectory,
  TrajectoryProblem,
} from "./atif-schema.ts";
import { atifUsage } from "./atif-usage.ts";

const AGENT_ONLY = [
  "model_name",
  "reasoning_effort",
  "reasoning_content",
  "tool_calls",
  "metrics",
  "observation",
] as const;

/** Reads a trajectory. Rejects what cannot be scored as one ordered response, such as images and subagents. */
export function readAtif(text: string): AtifTrajectory {
  const { data: trajectory, error } = AtifTrajectory.safeParse(loads(text));
  if (!trajectory) {
    const [issue] = error.issues;
    throw new TrajectoryProblem(issue?.path.join(".") || "trajectory", issue?.message ?? "is not valid");
  }
  checkTrajectory(trajectory);
  trajectory.steps.forEach(checkStep);
  return trajectory;
}

function checkTrajectory({ continued_trajectory_ref, subagent_trajectories, ...rest }: AtifTrajectory): void {
  const { steps, final_metrics: totals } = rest;
  if (typeof continued_trajectory_ref === "string")
    throw new TrajectoryProblem("continued_trajectory_ref", "a trajectory that continues elsewhere");
  if (subagent_trajectories?.length) throw new TrajectoryProblem("subagent_trajectories", "subagents");
  if (!steps.some(({ source }) => source === "agent"))
    throw new TrajectoryProblem("steps", "no step of the agent, so there is nothing to score");
  if (typeof totals?.total_steps === "number" && totals.total_steps !== steps.length)
    throw new TrajectoryProblem(
      "final_metrics.total_steps",
      `${totals.total_steps}, but ${steps.length} steps`,
    );
  const firstAgent = steps.findIndex(({ source }) => source === "agent");
  const late = steps.findIndex(({ source }, index) => index > firstAgent && source !== "agent");
  if (late !== -1)
    throw new TrajectoryProblem(
      `steps.${late}`,
      `a step of the ${steps[late]?.source} after the agent's first`,
    );
  rejectRepeated(steps);
}

function rejectRepeated(steps: readonly AtifStep[]): void {
  const seen = new Set<string>();
  for (const { tool_call_id: id } of steps.flatMap(({ tool_calls }) => tool_calls ?? [])) {
    if (seen.has(id)) throw new TrajectoryProblem(`tool call ${id}`, "occurs twice");
    seen.add(id);
  }
}

function checkStep(step: AtifStep, index: number): void {
  const place = `steps.${index}`;
  if (step.step_id !== index + 1)
    throw new TrajectoryProblem(`${place}.step_id`, `${step.step_id}, where ${index + 1} is expected`);
  if (step.is_copied_context) throw new TrajectoryProblem(`${place}.is_copied_context`, "copied context");
  const foreign = AGENT_ONLY.find((name) => (step[name] ?? null) !== null);
  if (step.source !== "agent" && foreign !== undefined)
    throw new TrajectoryProblem(`${place}.${foreign}`, "only steps of the agent have it");
  if ((step.llm_call_count ?? 0) > 1)
    throw new TrajectoryProblem(`${place}.llm_call_count`, "several model calls in one step have no order");
  if (step.tool_calls?.length && partsOf(step.message, `${place}.message`).length > 0)
    throw new TrajectoryProblem(place, "a message and calls in one step have no order");
  checkResults(step, place);
}

/** Every call has exactly one result, in its own step. */
function checkResults({ tool_calls, observation }: AtifStep, place: string): void {
  const open = new Set((tool_calls ?? []).map(({ tool_call_id: id }) => id));
  for (const { function_name, tool_call_id: id } of tool_calls ?? [])
    if (function_name.trim() === "" || id.trim() === "")
      throw new TrajectoryProblem(`${place}.tool_calls`, "a call without a name or an id");
  for (const [index, result] of (observation?.results ?? []).entries()) {
    const at = `${place}.observation.results.${index}`;
    if (result.subagent_trajectory_ref?.length) throw new TrajectoryProblem(at, "the result of a subagent");
    if (!open.delete(result.source_call_id ?? ""))
      throw new TrajectoryProblem(
        `${at}.source_call_id`,
        "no call of this step, or one that has a result already",
      );
  }
  const [unanswered] = open;
  if (unanswered !== undefined) throw new TrajectoryProblem(`tool call ${unanswered}`, "has no result");
}

/** The response that the agent gave, as a verifier reads it. `source` identifies a trajectory that has no id. */
export function responseOfAtif(trajectory: AtifTrajectory, source: string): Row {
  const id = (...parts: string[]) => {
    const seed = trajectory.trajectory_id?.trim() ? trajectory.trajectory_id : `content:${source}`;
    return `atif_${createHash("sha256")
      .update([seed, ...parts].join("\0"))
      .digest("hex")
      .slice(0, 20)}`;
  };
  const steps = trajectory.steps.filter(({ source: speaker }) => speaker === "agent");
  return {
    id: id("response"),
    created_at: createdAt(steps),
    model: modelOf(trajectory, steps),
    object: "response",
    output: steps.flatMap((step) => itemsOf(step, id)),
    parallel_tool_calls: steps.some(({ tool_calls }) => (tool_calls?.length ?? 0) > 1),
    tool_choice: "auto",
    tools: [],
    status: "completed",
    usage: atifUsage(trajectory, steps),
  };
}

function itemsOf(step: AtifStep, id: (...parts: string[]) => string): Row[] {
  const number = String(step.step_id);
  const items: Row[] = [];
  if (typeof step.reasoning_content === "string") {
    const summary = [{ type: "summary_text", text: step.reasoning_content }];
    items.push({ type: "reasoning", id: id("reasoning", number), summary });
  }
  const calls = step.tool_calls ?? [];
  const texts = partsOf(step.message, `step ${number}`);
  if (calls.length === 0) {
    const parts = texts.length === 0 ? [""] : texts;
    const content = parts.map((text) => ({ type: "output_text", text, annotations: [] }));
    items.push({
      type: "message",
      id: id("message", number),
      role: "assistant",
      status: "completed",
      content,
    });
  }
  for (const { tool_call_id, function_name, arguments: given } of calls)
    items.push({
      type: "function_call",
      id: id("function-call", tool_call_id),
      call_id: tool_call_id,
      name: function_name,
      arguments: compact(given),
      status: "completed",
    });
  for (const [index, result] of (step.observation?.results ?? []).entries())
    items.push({
      type: "function_call_output",
      id: id("function-output", result.source_call_id ?? "", String(index)),
      call_id: result.source_call_id,
      output: outputOf(result, `step ${number}, result ${index}`),
      status: "completed",
    });
  return items;
}

/** Results that are not text are in `extra.tool_result`. */
function outputOf({ content, extra }: AtifResult, place: string): string | Row[] {
  const hasResult = extra != null && Object.hasOwn(extra, "tool_result");
  if (content == null) {
    if (!hasResult) throw new TrajectoryProblem(place, "has neither content nor extra.tool_result");
    const result = extra["tool_result"];
    return typeof result === "string" ? result : compact(result);
  }
  if (hasResult) throw new TrajectoryProblem(place, "has both content and extra.tool_result");
  if (typeof content === "string") return content;
  return partsOf(content, place).map((text) => ({ type: "input_text", text }));
}

function partsOf(content: AtifContent, place: string): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  if (content.length === 0) throw new TrajectoryProblem(place, "an empty list of parts");
  return content.map((part) => {
    if (part.type !== "text") throw new TrajectoryProblem(place, "images cannot be scored from a trajectory");
    return part.text;
  });
}

const compact = (value: unknown): string =>
  dumps(value, { ensureAscii: false, sortKeys: true, separators: [",", ":"] });

/** Seconds since 1970 of the agent's last time stamp; 0 without one. */
function createdAt(steps: readonly AtifStep[]): number {
  const step = steps.findLast(({ timestamp }) => typeof timestamp === "string");
  if (step?.timestamp == null) return 0;
  if (!/(?:Z|[+-]\d\d:?\d\d)$/i.test(step.timestamp))
    throw new TrajectoryProblem(`step ${step.step_id}`, "its time stamp has no time zone");
  return Date.parse(step.timestamp) / 1000;
}

function modelOf({ agent }: AtifTrajectory, steps: readonly AtifStep[]): string {
  const names = new Set(steps.map(({ model_name: name }) => name ?? agent.model_name ?? "unknown"));
  const [name = "unknown", ...others] = names;
  if (others.length > 0)
    throw new TrajectoryProblem("model_name", `several models: ${[...names].join(", ")}`);
  return name;
}
