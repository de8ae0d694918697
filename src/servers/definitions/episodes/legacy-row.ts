import { GymError } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { materializeTask } from "../../../wire/door.ts";
import type { EpisodeReply, EpisodeRequest } from "./schemas.ts";

/** The typed episode of a flat row that arrives at an environment server. */
export function episodeOfRow(
  row: Readonly<JsonObject>,
  bound: { environment: string; agent: string; resources: string },
): EpisodeRequest {
  const source = row["task_source"] ?? bound.resources;
  if (typeof source !== "string" || ![bound.resources, bound.agent, bound.environment].includes(source))
    throw badRow(`task_source is ${JSON.stringify(source)}; this server is bound to '${bound.resources}'`);
  const reference = row["agent_ref"];
  const agent = isObject(reference) ? reference["name"] : undefined;
  if (agent !== undefined && agent !== bound.agent)
    throw badRow(`agent_ref is ${JSON.stringify(agent)}; this server is bound to '${bound.agent}'`);
  const attempt = row["_ng_attempt_index"] ?? 0;
  const task = materializeTask(row, source);
  return { episode_id: { rollout_id: rolloutOf(row), attempt: Number(attempt) }, task };
}

function rolloutOf(row: Readonly<JsonObject>): string {
  const { _ng_rollout_id: id, _ng_task_index: task, _ng_rollout_index: rollout } = row;
  if (typeof id === "string") return id;
  if (typeof task === "number" && typeof rollout === "number") return `${task}-${rollout}`;
  throw badRow("the row has no _ng_rollout_id and no _ng_task_index with _ng_rollout_index");
}

/** The class of failure rows that an environment server reports. */
export const ENVIRONMENT_FAILED = "environment_server_failed";

/** The flat result of an episode, as an agent would return it. */
export function rowOfEpisode({ result, failure }: EpisodeReply, agent: string): JsonObject {
  const agent_ref = { name: agent };
  if (result) {
    const { ng_agent_observations: observations, ...own } = result;
    return { ...own, ...(observations !== null && { ng_agent_observations: observations }), agent_ref };
  }
  return { ...failureMembers(failure), agent_ref };
}

/** The members of a failure row for a failed episode. */
export function failureMembers(
  failure: Readonly<Partial<NonNullable<EpisodeReply["failure"]>>> | null,
): JsonObject {
  const { failure_reason, terminal, stage, failure_kind, partial_response } = failure ?? {};
  return {
    _ng_failure_class: ENVIRONMENT_FAILED,
    _ng_failure_terminal: terminal ?? true,
    _ng_failure_message: failure_reason ?? "",
    ...(stage !== undefined && { _ng_failure_stage: stage }),
    ...(failure_kind !== undefined && { failure_kind }),
    ...(partial_response !== null && partial_response !== undefined
      ? { _ng_failure_partial_response: partial_response }
      : {}),
  };
}

function badRow(message: string): GymError {
  return new GymError("EPISODE_ROW", `${message}.`);
}
