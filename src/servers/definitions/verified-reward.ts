import { HttpError, type Logger } from "../../base/door.ts";
import { failure } from "../../base/failures.ts";
import type { JsonObject } from "../../base/python/json/door.ts";

const MAX_QUOTED = 100;

/**
 * Returns the score of a verifier's result; a boolean becomes 1 or 0. Any other non-number fails the rollout
 * permanently. JSON has no Infinity or NaN: they are sent as null, like in the Python original, and the collector fails
 * the rollout.
 */
export function rewardOf(result: unknown, server: { name: string; log: Logger }): number | null | undefined {
  const reward = (result as JsonObject | null | undefined)?.["reward"];
  if (typeof reward === "number") {
    if (Number.isFinite(reward)) return reward;
    server.log.error(`/verify: the reward is ${reward}, which is sent as null: the rollout does not count`);
    return null;
  }
  if (typeof reward === "boolean") return Number(reward);
  if (reportsFailure(result)) return undefined;
  throw unusable(
    `${server.name}: verify returned ${quote(result, reward)}; it must return an object with the number 'reward'`,
    server.log,
  );
}

/** Returns the reward of one step of an episode; a missing reward is 0. */
export function stepRewardOf(reward: unknown, server: { name: string; log: Logger }): number {
  if (typeof reward === "number" && Number.isFinite(reward)) return reward;
  if (reward === undefined || reward === null) return 0;
  if (typeof reward === "boolean") return Number(reward);
  throw unusable(`${server.name}: step returned the reward ${show(reward)}; it must be a number`, server.log);
}

/** Whether the verifier reports that the rollout failed. Such a result needs no score. */
function reportsFailure(result: unknown): boolean {
  const { _ng_failure_class, _ng_no_persist } = (result ?? {}) as JsonObject;
  return (_ng_failure_class ?? null) !== null || Boolean(_ng_no_persist);
}

function unusable(message: string, log: Logger): HttpError {
  log.error(message);
  return new HttpError(500, message, {
    failure: failure("verifier_error", message, { stage: "verify" }),
  });
}

function quote(result: unknown, reward: unknown): string {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return show(result);
  return reward === undefined ? "no reward" : `the reward ${show(reward)}`;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return JSON.stringify(value).slice(0, MAX_QUOTED);
}
