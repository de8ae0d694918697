import type { JsonObject } from "../../base/python/json/door.ts";
import type { Response, ResponseInputItem, ResponseOutputItem } from "../../wire/schemas/door.ts";
import { rolloutIdOf } from "../calls/rollout-id.ts";
import { isObserved } from "./settings.ts";

export interface TrajectoryTurn extends JsonObject {
  invocation_id: string;
  turn_no: number;
  timestamp: number;
  /** Number of tool calls up to and including this turn. */
  step_count: number;
}

/** A rollout from the view of the agent, before the collector adds the captured model calls (`ng_trajectory`). */
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

const INVOCATION = "root";

/** Records one agent invocation while it runs. */
export class TrajectoryRecorder {
  readonly #turns: TrajectoryTurn[] = [];
  readonly #toolCalls: JsonObject[] = [];
  readonly #modelCalls: JsonObject[] = [];
  readonly #gaps: JsonObject[] = [];

  /** The recorder of a rollout; undefined if the run is not observed, or the rollout has no id. */
  static of(
    config: Readonly<Record<string, unknown>>,
    rollout: { prefix: string },
  ): TrajectoryRecorder | undefined {
    return isObserved(config) && rollout.prefix !== "" ? new TrajectoryRecorder() : undefined;
  }

  /** Records a model call with its input and output. */
  modelTurn(turn: {
    startedAt: number;
    question: readonly ResponseInputItem[];
    output: readonly ResponseOutputItem[];
    responseId: string;
    modelServer: string;
  }): void {
    const number = this.#turns.length + 1;
    const { responseId, modelServer, output } = turn;
    const references: JsonObject[] = [];
    if (responseId) {
      const model_ref = { type: "responses_api_models", name: modelServer };
      references.push({ model_ref, response_id: responseId });
      this.#modelCalls.push(...references);
    } else {
      this.#gaps.push({
        code: "model_call_reference_unavailable",
        invocation_id: INVOCATION,
        detail: `turn:${number}`,
      });
    }
    const reasoning = output.filter((item) => item.type === "reasoning");
    this.#turns.push({
      invocation_id: INVOCATION,
      task_id: null,
      rollout_id: null,
      turn_no: number,
      timestamp: turn.startedAt / 1000,
      question: turn.question,
      answer: output.filter((item) => item.type !== "reasoning"),
      reasoning_content: reasoning.length > 0 ? reasoning : null,
      resolved: null,
      step_count: this.#toolCalls.length,
      model_calls: references,
    });
  }

  /** Records a tool call of the latest turn. `errorType` is null for a completed call. */
  toolCall(call: {
    id: string;
    name: string;
    startedAt: number;
    errorType: string | null;
    output: string;
  }): void {
    const completedAt = Date.now();
    this.#toolCalls.push({
      kind: "tool_call",
      invocation_id: INVOCATION,
      tool_call_id: call.id,
      sandbox_id: null,
      tool_name: call.name,
      started_at: call.startedAt / 1000,
      completed_at: completedAt / 1000,
      duration_ms: completedAt - call.startedAt,
      timing_source: "executor",
      status: call.errorType === null ? "completed" : "failed",
      error_type: call.errorType,
      output: call.output,
    });
    const turn = this.#turns.at(-1);
    if (turn) turn.step_count = this.#toolCalls.length;
  }

  /** Creates the trajectory. `status` is `completed` if the agent finished by itself. */
  finish(
    response: Response,
    input: readonly ResponseInputItem[],
    status: "completed" | "incomplete",
  ): Trajectory {
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
          status,
          duration_ms: null,
          error_type: null,
          model_calls: this.#modelCalls,
          conversation: [...input, ...response.output],
        },
      ],
      turns: this.#turns,
      model_calls: [],
      tool_calls: this.#toolCalls,
      gaps: this.#gaps,
    };
  }
}

/** Separates a response from the trajectory that it contains. */
export function takeTrajectory(response: Response & JsonObject): {
  response: Response;
  trajectory: Trajectory | undefined;
} {
  if (!("_ng_trajectory" in response)) return { response, trajectory: undefined };
  const { _ng_trajectory, ...rest } = response;
  return { response: rest as unknown as Response, trajectory: _ng_trajectory as Trajectory };
}

/** Adds the ids and the success of the rollout to the trajectory, and the trajectory to the result. */
export function finishTrajectory(result: JsonObject, trajectory: Trajectory, row: JsonObject): JsonObject {
  const taskId = taskIdOf(row) ?? "unknown";
  const rolloutId = rolloutIdOf(row) ?? null;
  const resolved = typeof result["resolved"] === "boolean" ? result["resolved"] : null;
  const gaps = [...trajectory.gaps];
  if (resolved === null || trajectory.turns.length === 0)
    gaps.push({ code: "resolution_unavailable", invocation_id: INVOCATION });
  const turns = trajectory.turns.map((turn, index) => ({
    ...turn,
    task_id: taskId,
    rollout_id: rolloutId,
    resolved: index === trajectory.turns.length - 1 ? resolved : turn["resolved"],
  }));
  return { ...result, ng_trajectory: { ...trajectory, task_id: taskId, rollout_id: rolloutId, turns, gaps } };
}

/** The id of the task of a row: its own id, or its index. */
export function taskIdOf(row: JsonObject): string | null {
  for (const key of ["task_id", "problem_id", "instance_id", "_ng_task_index"]) {
    const value = row[key];
    if (value !== undefined && value !== null) return String(value);
  }
  return null;
}
