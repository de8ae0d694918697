import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isObject } from "../../../base/python/json/door.ts";
import { RolloutError } from "../../errors.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { agentNameOf } from "../../files/row-fields.ts";
import { ToolCall, Turn } from "../../trajectory-parts.ts";
import { type Evidence, evidenceOf, isSuccessful, type ModelCall } from "../health/evidence.ts";
import { type AgentItems, AtifProblem, readConversation } from "./atif-conversation.ts";
import type { ExportedRollout } from "./export-records.ts";

/** Values shared by the trajectories of an export. */
export interface AtifContext {
  sessionId: string;
  agentVersion: string;
  exporterVersion: string;
}

/** The verifier, not the agent, reports whether the task was solved: a trajectory is complete without it. */
const HARMLESS_GAPS = new Set(["resolution_unavailable"]);

/**
 * Writes one file per rollout and `manifest.jsonl` with their hashes into a new directory. The directory is created
 * atomically: one rollout that cannot be converted fails the export. Returns the number of trajectories.
 */
export async function writeAtif(
  directory: string,
  rollouts: Iterable<ExportedRollout>,
  context: AtifContext,
): Promise<number> {
  if (await stat(directory).catch(() => undefined))
    throw new RolloutError("ROLLOUT_OUTPUT_EXISTS", `'${directory}' already exists; choose a new directory.`);
  await mkdir(dirname(directory), { recursive: true });
  const staging = await mkdtemp(join(dirname(directory), `.${basename(directory)}-`));
  try {
    const manifest: string[] = [];
    let agent: string | undefined;
    for (const rollout of rollouts) {
      const { task, candidate, row } = rollout;
      agent ??= agentNameOf(row);
      const text = `${JSON.stringify(converted(rollout, context, agent), null, 2)}\n`;
      const name = `${task.taskIndex}-${candidate.rolloutIndex}.json`;
      await writeFile(join(staging, name), text);
      const entry = {
        _ng_rollout_index: candidate.rolloutIndex,
        _ng_task_index: task.taskIndex,
        expected_sha256: createHash("sha256").update(text).digest("hex"),
        trajectory_path: name,
      };
      manifest.push(`${JSON.stringify(entry)}\n`);
    }
    if (manifest.length === 0) throw new RolloutError("ROLLOUT_EXPORT", "No rollout is left to export.");
    await writeFile(join(staging, "manifest.jsonl"), manifest.join(""));
    await rename(staging, directory);
    return manifest.length;
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

function converted(rollout: ExportedRollout, context: AtifContext, agent: string | undefined) {
  const { row, candidate } = rollout;
  try {
    if (agentNameOf(row) !== agent)
      throw new RolloutError("ROLLOUT_EXPORT", `agent_ref.name: another agent than '${agent}'`);
    return atifTrajectory(rollout, context);
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    throw new RolloutError("ROLLOUT_EXPORT", `line ${candidate.line}: ${error.message}`, { cause: error });
  }
}

/** One rollout as an ATIF-v1.7 trajectory. Content that it cannot represent is rejected, never dropped. */
function atifTrajectory({ row, task, candidate }: ExportedRollout, context: AtifContext): Row {
  const evidence = evidenceOf(row);
  const { invocation, turns, tools } = readSource(row, evidence);
  const conversation = readConversation(invocation["conversation"]);
  if (conversation.turns.length !== turns.length)
    throw new AtifProblem(
      "ng_trajectory.turns",
      `${turns.length} turns, but the conversation has ${conversation.turns.length}`,
    );
  const calls = turns.map((_, index) => callOf(evidence, index));
  const answers = conversation.turns.map((items, index) =>
    agentStep(items, turns[index] as Turn, calls[index] as ModelCall, tools),
  );
  const steps = [...conversation.before, ...answers].map((step, index) => ({ step_id: index + 1, ...step }));
  const models = new Set(calls.map(modelOf));
  const [model] = models;
  const definitions = (row["responses_create_params"] as Row | undefined)?.["tools"];
  return {
    schema_version: "ATIF-v1.7",
    session_id: context.sessionId,
    trajectory_id: `${context.sessionId}:${task.taskIndex}:${candidate.rolloutIndex}`,
    agent: withoutNulls({
      name: agentNameOf(row) ?? "agent",
      version: context.agentVersion,
      model_name: models.size === 1 ? model : null,
      tool_definitions: Array.isArray(definitions) && definitions.length > 0 ? definitions : null,
    }),
    steps,
    final_metrics: finalMetrics(calls, steps.length),
    extra: {
      nemo_gym: {
        exporter: { name: "nemo-gym", version: context.exporterVersion },
        source: withoutNulls({
          format: "ng_trajectory",
          schema_version: "1.0",
          task_id: (row["ng_trajectory"] as Row)["task_id"],
          rollout_id: evidence.trajectory?.rollout_id,
          task_index: task.taskIndex,
          rollout_index: candidate.rolloutIndex,
          invocation_id: invocation["invocation_id"],
          invocation_status: invocation["status"],
          invocation_duration_ms: invocation["duration_ms"],
        }),
        conversion: { profile: "ng-trajectory-to-atif-v1", status: "complete" },
      },
    },
  };
}

function readSource(row: Row, { trajectory, schemaProblem }: Evidence) {
  const place = "ng_trajectory";
  if (schemaProblem !== undefined) throw new AtifProblem(place, schemaProblem);
  if (!trajectory) throw new AtifProblem(place, "missing; record it with observability_enabled: true");
  const gap = trajectory.gaps.find(({ code }) => !HARMLESS_GAPS.has(code));
  if (gap) throw new AtifProblem(`${place}.gaps`, `the trajectory is incomplete (${gap.code})`);
  const given = row["ng_trajectory"] as Record<string, unknown[]>;
  const [invocation, ...others] = given["invocations"] ?? [];
  if (!isObject(invocation) || others.length > 0)
    throw new AtifProblem(`${place}.invocations`, "must be one, without subagents");
  if (invocation["status"] !== "completed" || (invocation["error_type"] ?? null) !== null)
    throw new AtifProblem(
      `${place}.invocations[0].status`,
      `'${String(invocation["status"])}' is not completed`,
    );
  const turns = (given["turns"] ?? []).map((turn) => Turn.parse(turn));
  for (const [index, { turn_no }] of turns.entries()) {
    if (turn_no !== index + 1)
      throw new AtifProblem(`${place}.turns[${index}].turn_no`, `${turn_no} is out of order`);
  }
  return { invocation, turns, tools: (given["tool_calls"] ?? []).map((call) => ToolCall.parse(call)) };
}

/** The model call of a turn: exactly one, recorded and successful. */
function callOf({ trajectory }: Evidence, index: number): ModelCall {
  const place = `ng_trajectory.turns[${index}].model_calls`;
  const refs = trajectory?.turns[index]?.model_calls ?? [];
  const [ref] = refs;
  const found = (trajectory?.model_calls ?? []).filter(
    (call) =>
      ref &&
      (ref.model_call_id
        ? call.model_call_id === ref.model_call_id
        : call.response_metadata?.response_id === ref.response_id),
  );
  const [call] = found;
  if (refs.length !== 1 || found.length !== 1 || !call)
    throw new AtifProblem(
      place,
      `${found.length} recorded calls for ${refs.length} references, not one for one`,
    );
  if (!isSuccessful(call)) throw new AtifProblem(place, "the model call failed");
  return call;
}

function agentStep(items: AgentItems, turn: Turn, call: ModelCall, tools: readonly ToolCall[]): Row {
  const { turn_no, step_count, resolved } = turn;
  const results = items.calls.map(({ call_id, output, output_id }) => {
    const record = tools.find(({ tool_call_id }) => tool_call_id === call_id);
    if (!record || record.output !== output)
      throw new AtifProblem(`tool call ${call_id}`, "no record of it with the output that the model saw");
    const { sandbox_id, started_at, completed_at, duration_ms, timing_source, status } = record;
    return {
      source_call_id: call_id,
      content: output,
      extra: {
        nemo_gym: withoutNulls({
          sandbox_id,
          started_at,
          completed_at,
          duration_ms,
          timing_source,
          status: status === "completed" ? null : status,
          source_item_id: output_id,
        }),
      },
    };
  });
  const calls = items.calls.map(({ call_id, name, arguments: given, item_id }) =>
    withoutNulls({
      tool_call_id: call_id,
      function_name: name,
      arguments: given,
      extra: item_id === null ? null : { nemo_gym: { source_item_id: item_id } },
    }),
  );
  return withoutNulls({
    timestamp: timestampOf(turn),
    source: "agent",
    model_name: modelOf(call),
    message: items.message,
    reasoning_content: items.reasoning,
    tool_calls: calls.length === 0 ? null : calls,
    observation: results.length === 0 ? null : { results },
    metrics: stepMetrics(call, items),
    llm_call_count: 1,
    extra: {
      nemo_gym: {
        turn: withoutNulls({ turn_no, step_count, resolved }),
        model_call: withoutNulls({
          model_call_id: call.model_call_id,
          response_id: call.response_metadata?.response_id,
          finish_reason: call.response_metadata?.finish_reason,
          started_at: call.started_at,
          completed_at: call.completed_at,
        }),
        source_items: withoutNulls({ reasoning_ids: items.reasoningIds, message_id: items.messageId }),
      },
    },
  });
}

function stepMetrics({ token_stats: stats }: ModelCall, { tokens }: AgentItems): Row {
  const { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, total_tokens } = stats ?? {};
  const extra = withoutNulls({ reasoning_tokens, total_tokens });
  return withoutNulls({
    prompt_tokens,
    completion_tokens,
    cached_tokens,
    prompt_token_ids: tokens?.prompt_token_ids,
    completion_token_ids: tokens?.generation_token_ids,
    logprobs: tokens?.generation_log_probs,
    extra: Object.keys(extra).length > 0 ? extra : null,
  });
}

function finalMetrics(calls: readonly ModelCall[], steps: number): Row {
  const total = (name: "prompt_tokens" | "completion_tokens" | "cached_tokens") => {
    const counts = calls.map(({ token_stats: stats }) => stats?.[name] ?? null);
    return counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  };
  return withoutNulls({
    total_prompt_tokens: total("prompt_tokens"),
    total_completion_tokens: total("completion_tokens"),
    total_cached_tokens: total("cached_tokens"),
    total_steps: steps,
  });
}

const modelOf = ({ response_metadata: about }: ModelCall): string | null => about?.model ?? null;

function timestampOf({ timestamp }: Turn): string | null {
  if (timestamp === null) return null;
  return new Date(typeof timestamp === "number" ? timestamp * 1000 : timestamp).toISOString();
}

/** Omits fields that are null or undefined. */
const withoutNulls = (fields: Row): Row =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
