import { isObject } from "../../base/python/json/door.ts";
import type { Row } from "../../records/files/door.ts";
import type { TurnBoundaries } from "../../records/light-door.ts";
import { countOf } from "../../wire/convert/door.ts";
import {
  addJudgeCalls,
  emptyJudgeTally,
  type JudgeCalls,
  type JudgeTally,
  type ToolExceptions,
} from "../../wire/light-door.ts";
import { RunningClusteredMean } from "./running-mean.ts";
import { TurnBoundaryCounter } from "./turn-boundaries.ts";

/** Who judged, from `_ng_judge` of a row. */
export function judgeCallsOf(judged: unknown): JudgeCalls[] {
  const judges = isObject(judged) && Array.isArray(judged["judges"]) ? judged["judges"].filter(isObject) : [];
  return judges.map(({ server, model, calls }) => ({
    server: String(server),
    model: typeof model === "string" ? model : null,
    calls: countOf(calls) ?? 0,
  }));
}

/** Sums over completed rollouts, including those of earlier sessions. */
export class RolloutTally {
  readonly rewards = new RunningClusteredMean();
  readonly #byAgent = new Map<string, { done: number; rewards: number; total: number }>();
  readonly #boundaries = new TurnBoundaryCounter();
  inputTokens = 0;
  outputTokens = 0;
  /** Model calls that failed and were repeated. */
  retries = 0;
  /** Null while no rollout has been judged. */
  judge: JudgeTally | null = null;
  readonly #toolExceptions = new Map<string, ToolExceptions>();
  /** Null while no rollout reports a cost. */
  cost: number | null = null;

  add(row: Row, taskIndex: number, agent: string): void {
    const { reward, response, _ng_judge: judged, _ng_tool_exceptions: raised } = row;
    const perAgent = this.#byAgent.get(agent) ?? { done: 0, rewards: 0, total: 0 };
    this.#byAgent.set(agent, perAgent);
    perAgent.done++;
    if (typeof reward === "number") {
      this.rewards.add(taskIndex, reward);
      perAgent.rewards++;
      perAgent.total += reward;
    }
    const usage = (response as { usage?: Record<string, unknown> | null } | null | undefined)?.usage;
    if (typeof usage?.["ng_cost"] === "number") this.cost = (this.cost ?? 0) + usage["ng_cost"];
    if (typeof usage?.["input_tokens"] === "number") this.inputTokens += usage["input_tokens"];
    if (typeof usage?.["output_tokens"] === "number") this.outputTokens += usage["output_tokens"];
    if (typeof usage?.["ng_retries"] === "number") this.retries += usage["ng_retries"];
    if (isObject(judged)) this.#addJudge(judged);
    if (isObject(raised)) this.#addToolExceptions(raised);
  }

  #addToolExceptions({ server, count, message }: Row): void {
    const name = String(server);
    const known = this.#toolExceptions.get(name) ?? { server: name, count: 0, message: String(message) };
    known.count += countOf(count) ?? 0;
    this.#toolExceptions.set(name, known);
  }

  /** Exceptions by server, with the first message of each. */
  get toolExceptions(): ToolExceptions[] {
    return [...this.#toolExceptions.values()].map((each) => ({ ...each }));
  }

  #addJudge(judged: Row): void {
    this.judge ??= emptyJudgeTally();
    for (const key of ["calls", "input_tokens", "output_tokens", "unreadable"] as const)
      this.judge[key] += countOf(judged[key]) ?? 0;
    for (const calls of judgeCallsOf(judged)) addJudgeCalls(this.judge.judges, calls);
  }

  /** Adds the row of a completed rollout as written to the output, including its captured data. */
  written(row: Row): void {
    this.#boundaries.add(row);
  }

  get turnBoundaries(): TurnBoundaries | null {
    return this.#boundaries.counts;
  }

  get byAgent(): Record<string, { done: number; mean_reward: number | null }> {
    return Object.fromEntries(
      [...this.#byAgent].map(([agent, { done, rewards, total }]) => [
        agent,
        { done, mean_reward: rewards === 0 ? null : total / rewards },
      ]),
    );
  }
}
