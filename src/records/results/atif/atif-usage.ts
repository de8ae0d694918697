import { isObject } from "../../../base/python/json/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { type AtifStep, type AtifTrajectory, TrajectoryProblem } from "./atif-schema.ts";

type Counts = { input: number; output: number; cached: number | null };

/** The tokens of a response; null unless both totals are known. Totals that contradict the steps are errors. */
export function atifUsage({ final_metrics: totals }: AtifTrajectory, steps: readonly AtifStep[]): Row | null {
  const calls = steps.filter(({ llm_call_count: count }) => count !== 0);
  const summed = sumOfSteps(calls);
  const input = totals?.total_prompt_tokens ?? null;
  const output = totals?.total_completion_tokens ?? null;
  if (input === null && output === null && !summed) return null;
  if (input === null || output === null)
    throw new TrajectoryProblem(
      "final_metrics",
      "needs both total_prompt_tokens and total_completion_tokens",
    );
  if (summed && (summed.input !== input || summed.output !== output))
    throw new TrajectoryProblem("final_metrics", "the totals are not the sums of the steps");
  const cached = summed?.cached ?? totals?.total_cached_tokens ?? null;
  if (cached !== null && cached > input)
    throw new TrajectoryProblem("final_metrics", "more cached than prompt tokens");
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoningOf(calls) },
    total_tokens: input + output,
  };
}

function sumOfSteps(calls: readonly AtifStep[]): Counts | undefined {
  const known = calls
    .map(({ metrics }) => metrics)
    .filter((metrics) => metrics?.prompt_tokens != null || metrics?.completion_tokens != null);
  if (known.length === 0) return undefined;
  const complete = known.filter(
    (metrics) => metrics?.prompt_tokens != null && metrics.completion_tokens != null,
  );
  if (complete.length < calls.length)
    throw new TrajectoryProblem("steps", "some steps lack prompt_tokens or completion_tokens");
  const cached = known.map((metrics) => metrics?.cached_tokens ?? null);
  return {
    input: sum(known.map((metrics) => metrics?.prompt_tokens ?? 0)),
    output: sum(known.map((metrics) => metrics?.completion_tokens ?? 0)),
    cached: cached.includes(null) ? null : sum(cached.map((count) => count ?? 0)),
  };
}

function reasoningOf(calls: readonly AtifStep[]): number | null {
  const counts = calls.map(({ metrics }) => {
    const { extra } = metrics ?? {};
    const details = extra?.["output_tokens_details"] ?? extra?.["completion_tokens_details"];
    const count = extra?.["reasoning_tokens"] ?? (isObject(details) ? details["reasoning_tokens"] : null);
    return typeof count === "number" ? count : null;
  });
  return counts.includes(null) ? null : sum(counts.map((count) => count ?? 0));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
