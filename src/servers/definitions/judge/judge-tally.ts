import { processWide } from "../../../base/door.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { countOf } from "../../../wire/convert/door.ts";
import { addJudgeCalls, emptyJudgeTally, type JudgeTally } from "../../../wire/light-door.ts";

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
  addJudgeCalls(tally.judges, { server, model: nameOf(model), calls: 1 });
  tally.input_tokens += countOf(counts["input_tokens"] ?? counts["prompt_tokens"]) ?? 0;
  tally.output_tokens += countOf(counts["output_tokens"] ?? counts["completion_tokens"]) ?? 0;
}

/** Names the judge of an answer that was not asked for again. */
export function noteCachedAnswer(
  signal: AbortSignal | undefined,
  server: string,
  { model }: JsonObject,
): void {
  if (signal) addJudgeCalls(tallyOf(signal).judges, { server, model: nameOf(model), calls: 0 });
}

function nameOf(model: unknown): string | null {
  return typeof model === "string" ? model : null;
}

export function countUnreadable(signal: AbortSignal | undefined): void {
  if (signal) tallyOf(signal).unreadable++;
}

/** Limits the size of rows. */
const MAX_VOTES = 20;
const MAX_VERDICT_CHARS = 100;

/** Notes the verdicts of one question that was asked several times. */
export function noteVotes(signal: AbortSignal | undefined, verdicts: readonly unknown[]): void {
  if (!signal) return;
  const tally = tallyOf(signal);
  tally.votes ??= [];
  if (tally.votes.length >= MAX_VOTES) return;
  const texts = verdicts.map((verdict) =>
    verdict === null ? null : String(verdict).slice(0, MAX_VERDICT_CHARS),
  );
  tally.votes.push(texts.slice(0, MAX_VOTES));
}

/** Returns the counts of a request and removes them; undefined if no judge was asked. */
export function takeJudgeTally(signal: AbortSignal): JudgeTally | undefined {
  const tally = tallies.get(signal);
  tallies.delete(signal);
  return tally;
}
