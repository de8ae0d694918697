import type { JsonObject, MetricsHooks } from "nemo-gym";
import type { Config } from "./config.ts";
import { readVerdict } from "./verdict.ts";

const RATE = "judgement_parsing_issue_rate";

/** The share of judged rollouts in which a verdict could not be read for certain, in total and by kind of issue. */
export function issueMetrics(config: Config): MetricsHooks {
  return {
    compute(tasks) {
      const judged = tasks.flat().flatMap((row) => issuesOfRollout(row, config) ?? []);
      if (judged.length === 0) return {};
      const share = (count: number) => count / judged.length;
      const kinds = [...new Set(judged.flatMap((issues) => [...issues]))].sort();
      return {
        [RATE]: share(judged.filter((issues) => issues.size > 0).length),
        ...Object.fromEntries(
          kinds.map((kind) => [`${RATE}/${kind}`, share(judged.filter((issues) => issues.has(kind)).length)]),
        ),
      };
    },
    key: (metrics) => (RATE in metrics ? { [RATE]: metrics[RATE] } : {}),
  };
}

/** The issues of all evaluations of a rollout; undefined if no evaluation tells. */
function issuesOfRollout(row: JsonObject, config: Config): Set<string> | undefined {
  const evaluations = Array.isArray(row["judge_evaluations"])
    ? (row["judge_evaluations"] as JsonObject[])
    : [];
  const known = evaluations.flatMap((evaluation) => {
    const issues = issuesOf(evaluation, config);
    return issues === undefined ? [] : [issues];
  });
  return known.length === 0 ? undefined : new Set(known.flat());
}

/** Results of version 0.5 do not list the issues; they are read from the reply again. */
function issuesOf(evaluation: JsonObject, config: Config): string[] | undefined {
  const { judgement_parsing_issues: issues, response } = evaluation;
  if (Array.isArray(issues)) return issues.map(String);
  return response ? readVerdict(response as JsonObject, config).issues : undefined;
}
