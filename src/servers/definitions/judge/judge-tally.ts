import { processWide } from "../../../base/process-wide.ts";
import type { JsonObject } from "../../../base/python/json/json-object.ts";
import { countOf } from "../../../wire/convert/usage.ts";
import { addJudgeCalls, emptyJudgeTally, type JudgeTally } from "../../../wire/result-members.ts";

/** The signal identifies the request that a judge works for. */
const tallies = processWide("judge-tallies", () => new WeakMap<AbortSignal, JudgeTally>());

function tallyOf(signal: AbortSignal): JudgeTally {
  let tally = tallies.get(signal);
  if (!tally) {
    tally = emptyJudgeTally();
    tallies.set(signal, tally);
  }
  return tally;
}

export function countJudgeCall(
  signal: AbortSignal | undefined,
  server: string,
  { usage, model }: JsonObject,
): void {
  if (!signal) return;
  const tally = tallyOf(signal);
  const counts = (usage ?? {}) as JsonObject;
  tally.calls++;
  addJudgeCalls(tally.judges, { server, model: typeof model === "string" ? model : null, calls: 1 });
  tally.input_tokens += countOf(counts["input_tokens"] ?? counts["prompt_tokens"]) ?? 0;
  tally.output_tokens += countOf(counts["output_tokens"] ?? counts["completion_tokens"]) ?? 0;
}

export function countUnreadable(signal: AbortSignal | undefined): void {
  if (signal) tallyOf(signal).unreadable++;
}

/** Returns the counts of a request and removes them; undefined if no judge was asked. */
export function takeJudgeTally(signal: AbortSignal): JudgeTally | undefined {
  const tally = tallies.get(signal);
  tallies.delete(signal);
  return tally;
}
