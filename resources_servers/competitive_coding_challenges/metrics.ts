import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";
import { isObject } from "nemo-gym/python";
import type { Problems } from "./problems.ts";
import { caps } from "./score.ts";

/** pass@k of whole problems, and the best score of each subtask over all rollouts. */
export function competitionMetrics(problems: () => Problems): MetricsHooks {
  return {
    compute: (tasks) => {
      const { metrics } = passMajorityMetrics(tasks, {
        scores: (row) => ({ accuracy: isSolved(row) ? 1 : 0 }),
        answerField: "extracted_code",
      });
      const perProblem = bestScores(tasks.flat(), problems());
      const total = Object.values(perProblem).reduce((sum, { total: { score } }) => sum + score, 0);
      return { ...metrics, per_problem_subtask_scores: perProblem, total_score: Math.trunc(total) };
    },
    key: (all) => ({
      ...highestKMetrics(all, "pass@1[avg-of-{k}]", { scoreNames: ["accuracy"] }),
      ...highestKMetrics(all, "pass@{k}", { scoreNames: ["accuracy"] }),
      ...(all["total_score"] !== undefined && { total_score: all["total_score"] }),
    }),
  };
}

function subtaskScores({ details }: JsonObject): [name: string, score: number][] {
  const results = isObject(details) ? details["test_case_results"] : undefined;
  if (!isObject(results)) return [];
  return Object.entries(results).map(([name, result]) => [
    name,
    isObject(result) && typeof result["score"] === "number" ? result["score"] : 0,
  ]);
}

function isSolved(row: JsonObject): boolean {
  const scores = subtaskScores(row);
  return scores.length > 0 && scores.every(([, score]) => score > 0);
}

/** The best score of each subtask; limits are those of the subtasks that the rollouts have results of. */
function bestScores(rows: readonly JsonObject[], problems: Problems) {
  const found = new Map<string, { best: Map<string, number>; limits: Map<string, number> }>();
  for (const row of rows) {
    const id = row["problem_id"] || row["ioi_id"];
    const scores = subtaskScores(row);
    if (typeof id !== "string" || scores.length === 0) continue;
    const competition = row["competition_id"];
    const problem = problems.find(id, typeof competition === "string" ? competition : null);
    const most = typeof problem === "string" ? {} : caps(problem);
    const entry = found.get(id) ?? { best: new Map<string, number>(), limits: new Map<string, number>() };
    found.set(id, entry);
    for (const [name, score] of scores) {
      if (score > (entry.best.get(name) ?? 0)) entry.best.set(name, score);
      if (!entry.limits.has(name)) entry.limits.set(name, most[name] ?? 0);
    }
  }
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
  return Object.fromEntries(
    [...found].map(([id, { best, limits }]) => [
      id,
      {
        total: { score: sum(best.values()), max_score: sum(limits.values()) },
        subtasks: Object.fromEntries(
          [...best].map(([name, score]) => [name, { score, max_score: limits.get(name) ?? 0 }]),
        ),
      },
    ]),
  );
}
