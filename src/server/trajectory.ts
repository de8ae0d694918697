import type { Response, ResponseInputItem } from "../openai/responses.ts";
import { rolloutIdOf } from "../openai/rollout-id.ts";
import type { JsonObject } from "./definitions.ts";

export interface TrajectoryTurn extends JsonObject {
  invocation_id: string;
  turn_no: number;
  timestamp: number;
}

/** A rollout as the agent saw it, before the collector joins it with captured model calls (`ng_trajectory`). */
export interface Trajectory extends JsonObject {
  schema_version: "1.0";
  task_id: string | null;
  rollout_id: string | null;
  invocations: JsonObject[];
  turns: TrajectoryTurn[];
  model_calls: JsonObject[];
  tool_calls: JsonObject[];
  gaps: JsonObject[];
}

const INVOCATION = "main";

/** Notes down one agent invocation while it runs. */
export class TrajectoryRecorder {
  readonly #startedAt = Date.now();
  readonly #turns: TrajectoryTurn[] = [];
  readonly #toolCalls: JsonObject[] = [];
  readonly #modelCalls: JsonObject[] = [];

  modelTurn(turn: {
    question: string | null;
    answer: string | null;
    reasoning: string | null;
    responseId: string;
    modelServer: string;
  }): void {
    const reference = {
      model_ref: { type: "responses_api_models", name: turn.modelServer },
      response_id: turn.responseId,
    };
    this.#modelCalls.push(reference);
    this.#turns.push({
      invocation_id: INVOCATION,
      task_id: null,
      rollout_id: null,
      turn_no: this.#turns.length + 1,
      timestamp: Date.now() / 1000,
      question: turn.question,
      answer: turn.answer,
      reasoning_content: turn.reasoning,
      resolved: null,
      step_count: this.#toolCalls.length,
      model_calls: [reference],
    });
  }

  toolCall(call: { id: string; name: string; startedAt: number; status: number; output: string }): void {
    const completedAt = Date.now();
    const ok = call.status >= 200 && call.status < 300;
    this.#toolCalls.push({
      kind: "tool_call",
      invocation_id: INVOCATION,
      tool_call_id: call.id,
      sandbox_id: null,
      tool_name: call.name,
      started_at: call.startedAt / 1000,
      completed_at: completedAt / 1000,
      duration_ms: completedAt - call.startedAt,
      timing_source: "harness",
      status: ok ? "completed" : "failed",
      error_type: ok ? null : `http_${call.status}`,
      output: call.output,
    });
  }

  finish(response: Response, input: readonly ResponseInputItem[]): Trajectory {
    return {
      schema_version: "1.0",
      task_id: null,
      rollout_id: null,
      invocations: [
        {
          kind: "agent_invocation",
          invocation_id: INVOCATION,
          parent_invocation_id: null,
          spawned_by_tool_call_id: null,
          status: response.incomplete_details ? "incomplete" : "completed",
          duration_ms: Date.now() - this.#startedAt,
          error_type: null,
          model_calls: this.#modelCalls,
          conversation: [...input, ...response.output],
        },
      ],
      turns: this.#turns,
      model_calls: [],
      tool_calls: this.#toolCalls,
      gaps: [],
    };
  }
}

/** Separates the response from the trajectory that travelled inside it. */
export function takeTrajectory(response: Response & JsonObject): {
  response: Response;
  trajectory: Trajectory | undefined;
} {
  if (!("_ng_trajectory" in response)) return { response, trajectory: undefined };
  const { _ng_trajectory, ...rest } = response;
  return { response: rest as unknown as Response, trajectory: _ng_trajectory as Trajectory };
}

/** Gives the trajectory its identity and whether the task was solved, and puts it into the result. */
export function finishTrajectory(result: JsonObject, trajectory: Trajectory, row: JsonObject): JsonObject {
  const taskId = taskIdOf(row);
  const rolloutId = rolloutIdOf(row) ?? null;
  const resolved = typeof result["resolved"] === "boolean" ? result["resolved"] : null;
  const gaps = [...trajectory.gaps];
  if (resolved === null) gaps.push({ code: "resolution_unavailable" });
  const turns = trajectory.turns.map((turn, index) => ({
    ...turn,
    task_id: taskId,
    rollout_id: rolloutId,
    resolved: index === trajectory.turns.length - 1 ? resolved : turn["resolved"],
  }));
  return { ...result, ng_trajectory: { ...trajectory, task_id: taskId, rollout_id: rolloutId, turns, gaps } };
}

/** What the task of a row is called: its own name, or its number. */
export function taskIdOf(row: JsonObject): string | null {
  for (const key of ["task_id", "problem_id", "instance_id", "_ng_task_index"]) {
    const value = row[key];
    if (value !== undefined && value !== null) return String(value);
  }
  return null;
}
