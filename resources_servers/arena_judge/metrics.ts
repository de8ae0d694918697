import type { JsonObject, MetricsHooks } from "nemo-gym";
import {
  highestKMetrics,
  type PassMajorityOptions,
  passMajorityMetrics,
  subsetMetrics,
} from "nemo-gym/metrics";
import { byCodePoint } from "nemo-gym/python";
import { arenaElo, type Game } from "./elo.ts";
import { VERDICTS } from "./verdict.ts";

const WINS = ["A>>B", "A>B"];
const LOSSES = ["B>A", "B>>A"];

const options: PassMajorityOptions = {
  answerField: "verdict_gen_base",
  scores: ({ verdict_gen_base: first, verdict_base_gen: second, invalid_gen_base }) => ({
    wins: WINS.includes(String(first)),
    strict_wins: first === "A>>B",
    ties: first === "A=B",
    losses: LOSSES.includes(String(first)),
    double_wins: WINS.includes(String(first)) && LOSSES.includes(String(second)),
    invalid_gen_base: Boolean(invalid_gen_base),
  }),
};

/** Shares of the verdicts, and the rating against the baseline (`arena_elo/…`), overall and by category. */
export function arenaMetrics(config: {
  arena_elo_bootstrap_rounds: number;
  arena_elo_bootstrap_seed: number;
}): MetricsHooks {
  const elo = (prefix: string, tasks: readonly JsonObject[][]) => {
    const rating = arenaElo(tasks.map(gameOf), {
      rounds: config.arena_elo_bootstrap_rounds,
      seed: config.arena_elo_bootstrap_seed,
    });
    return Object.fromEntries(Object.entries(rating).map(([name, value]) => [`${prefix}/${name}`, value]));
  };
  return {
    compute(tasks) {
      const categories = new Map<string, JsonObject[][]>();
      for (const task of tasks) {
        const category = task[0]?.["category"];
        if (typeof category !== "string" || category === "") continue;
        categories.set(category, [...(categories.get(category) ?? []), task]);
      }
      const sorted = [...categories].sort(([a], [b]) => byCodePoint(a, b));
      return {
        ...passMajorityMetrics(tasks, options).metrics,
        ...subsetMetrics(tasks, "category", options),
        ...(tasks.length > 0 && elo("arena_elo", tasks)),
        ...Object.assign({}, ...sorted.map(([category, own]) => elo(`arena_elo/${category}`, own))),
      };
    },
    key: (metrics) => ({
      ...pick(metrics, "mean/input_tokens", "mean/output_tokens"),
      ...pick(
        metrics,
        ...["score", "ci_lower", "ci_upper", "invalid_scores"].map((name) => `arena_elo/${name}`),
      ),
      ...highestKMetrics(metrics, "pass@1[avg-of-{k}]"),
      ...highestKMetrics(metrics, "pass@{k}", { excludeNames: ["no_answer"] }),
    }),
  };
}

/** The best verdicts of a task's rollouts for the candidate, in each order. */
function gameOf(rollouts: readonly JsonObject[]): Game {
  const given = (field: string) => rollouts.map((row) => row[field]);
  const [first, second] = [given("verdict_gen_base"), given("verdict_base_gen")];
  return {
    candidateFirst: VERDICTS.find((verdict) => first.includes(verdict)) ?? null,
    baselineFirst: VERDICTS.toReversed().find((verdict) => second.includes(verdict)) ?? null,
  };
}

function pick(metrics: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => name in metrics).map((name) => [name, metrics[name]]));
}
