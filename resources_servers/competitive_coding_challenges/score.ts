import { parsePyFloat, pyRound } from "nemo-gym/python";
import type { Problem } from "./problems.ts";
import type { Compiled } from "./programs.ts";

export interface TestOutput {
  compile_success: boolean;
  compile_stdout: string;
  compile_stderr: string;
  run_stdout: string;
  run_stderr: string;
  error: string;
  score: number;
  test_name: string;
  test_group?: string;
}

export interface SubtaskResult {
  score: number;
  outputs: TestOutput[];
}

export interface Graded {
  results: Record<string, SubtaskResult>;
  /** Seconds of each test whose program was compiled. */
  seconds: number[];
}

interface Progress {
  name: string;
  subtask: Problem["subtasks"][string];
  outputs: TestOutput[];
  failed: boolean;
}

const AGGREGATIONS = ["min", "sum_tests"];

/** A word that no rule is known for; undefined if all subtasks can be scored. */
export function unknownAggregation(problem: Problem): string | undefined {
  return Object.values(problem.subtasks)
    .map(({ aggregation }) => aggregation)
    .find((word) => !AGGREGATIONS.includes(word));
}

/**
 * Runs the tests in batches. Unless `all` is set, tests that cannot change a score any more are left out: those of no subtask,
 * and those whose subtasks have all failed.
 */
export async function grade(
  problem: Problem,
  compiled: Compiled,
  { subtask, batchSize, all }: { subtask: string | null | undefined; batchSize: number; all: boolean },
): Promise<Graded> {
  const wanted = subtask == null ? undefined : problem.subtasks[subtask];
  const names = Object.keys(problem.all_tests).filter((name) => wanted?.test_names.includes(name) ?? true);
  const progress = Object.entries(problem.subtasks).map(
    ([name, each]): Progress => ({ name, subtask: each, outputs: [], failed: false }),
  );
  const isOpen = (test: string) =>
    all || progress.some(({ subtask: { test_names }, failed }) => test_names.includes(test) && !failed);
  const seconds: number[] = [];
  for (let at = 0; at < names.length; at += batchSize) {
    const batch = names.slice(at, at + batchSize).filter(isOpen);
    const outputs = await Promise.all(
      batch.map(async (name) => {
        const started = performance.now();
        const output = await runTest(problem, compiled, name);
        if (output.compile_success) seconds.push((performance.now() - started) / 1000);
        return output;
      }),
    );
    for (const output of outputs) {
      for (const each of progress) {
        if (!each.subtask.test_names.includes(output.test_name) || (each.failed && !all)) continue;
        each.outputs.push(output);
        if (each.subtask.aggregation === "min" && output.score < 1) each.failed = true;
      }
    }
  }
  return {
    results: Object.fromEntries(
      progress.map((each) => [each.name, { score: scoreOf(each), outputs: each.outputs }]),
    ),
    seconds,
  };
}

async function runTest(problem: Problem, compiled: Compiled, name: string): Promise<TestOutput> {
  const test = problem.all_tests[name] as Problem["all_tests"][string];
  const run = await compiled.run?.(test);
  return {
    compile_success: run !== undefined,
    compile_stdout: compiled.stdout,
    compile_stderr: compiled.stderr,
    run_stdout: run?.stdout ?? "",
    run_stderr: run?.stderr ?? "",
    error: "",
    score: run === undefined ? 0 : (parsePyFloat(run.stdout) ?? 0),
    test_name: name,
    ...(test.group != null && { test_group: test.group }),
  };
}

function scoreOf({ subtask, outputs, failed }: Progress): number {
  if (subtask.aggregation === "sum_tests") return outputs.filter(({ score }) => score > 0).length;
  const [first, ...others] = outputs.map(({ score }) => score);
  if (failed || first === undefined) return 0;
  let least = first;
  // Like Python's min: NaN remains if it is the first.
  for (const score of others) if (score < least) least = score;
  least *= subtask.score ?? 0;
  return Number.isFinite(least) ? pyRound(least, Math.max(0, subtask.score_precision ?? 0)) : least;
}

/** The most that a subtask can give; undefined if the metadata has no score. */
function capOf({ aggregation, score, test_names }: Problem["subtasks"][string]): number | undefined {
  return aggregation === "sum_tests" ? test_names.length : (score ?? undefined);
}

export function caps(problem: Problem): Record<string, number> {
  return Object.fromEntries(
    Object.entries(problem.subtasks).map(([name, subtask]) => [name, capOf(subtask) ?? 0]),
  );
}

/** 1 if the subtask, or without a known one the whole problem, got all points. A cap of 0 points cannot be reached. */
export function binaryReward(
  problem: Problem,
  results: Graded["results"],
  subtask: string | null | undefined,
  subtaskScore: number | null | undefined,
): number {
  const one = subtask == null ? undefined : results[subtask];
  if (one !== undefined) {
    const metadata = problem.subtasks[subtask as string];
    const most = subtaskScore ?? (metadata && capOf(metadata));
    if (most === undefined) return one.score > 0 ? 1 : 0;
    return most !== 0 && one.score >= most ? 1 : 0;
  }
  const scores = Object.values(results).map(({ score }) => score);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const most = sum(Object.values(caps(problem)));
  if (most === 0) return scores.every((score) => score > 0) ? 1 : 0;
  return sum(scores) >= most ? 1 : 0;
}

/** The share of tests that passed. */
export function fractionReward(results: Graded["results"], subtask: string | null | undefined): number {
  const one = subtask == null ? undefined : results[subtask];
  const outputs = one ? [one] : Object.values(results);
  const byName = new Map(outputs.flatMap((each) => each.outputs).map((output) => [output.test_name, output]));
  const passed = [...byName.values()].filter(({ score }) => score >= 1).length;
  return byName.size === 0 ? 0 : passed / byName.size;
}
