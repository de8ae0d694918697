import { countTokens } from "gpt-tokenizer";
import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isObject, PyRandom } from "nemo-gym/python";
import type { Config } from "./app.ts";
import { pointsOf, type Verdict } from "./verdict.ts";

const INTERVAL = [0.025, 0.975] as const;

interface Battle {
  category: string;
  points: number[];
  /** The same with control of the length. */
  controlled: number[];
  slices: string[];
}

/** Win rates against the baseline, with the percentiles of resampled games. */
export function arenaMetrics(config: Config): MetricsHooks {
  return {
    compute(tasks) {
      const rows = tasks.flat().filter((row) => row["self_comparison"] !== true);
      const battles = rows.flatMap((row) => battleOf(row, config) ?? []);
      if (battles.length === 0) return {};
      const metrics: JsonObject = {
        "rate/no_answer": rows.filter(({ policy_answer }) => policy_answer === null).length / rows.length,
        "rate/no_verdict": rows.filter(({ games }) => verdictsOf(games).includes(null)).length / rows.length,
        ...rates("", battles, config),
      };
      const slices = new Set(battles.flatMap((battle) => battle.slices));
      for (const slice of [...slices].sort()) {
        const members = battles.filter((battle) => battle.slices.includes(slice));
        if (members.length >= config.slice_min_prompts)
          Object.assign(metrics, rates(`${slice}/`, members, config));
      }
      return metrics;
    },
    key: (metrics) =>
      Object.fromEntries(
        Object.entries(metrics).filter(
          ([name]) => name.startsWith("mean/") || /^win_rate(_no_SC)?$/.test(name),
        ),
      ),
  };
}

function battleOf(row: JsonObject, config: Config): Battle | undefined {
  const { games, category, prompt_slices: slices, policy_answer: answer } = row;
  const isThird = config.style_control_method === "reference_length";
  // Version 3 counts answers that could not be judged as lost.
  if (games === null && !(isThird && !config.generation_only)) return undefined;
  const [first = null, second = null] = verdictsOf(games);
  const played = (verdict: Verdict | null, isFirst: boolean) =>
    verdict === "[[BB]]" && !config.score_both_bad_as_tie
      ? []
      : pointsOf(verdict, isFirst, config.verdict_weight);
  const points = games === null ? [0] : [...played(first, true), ...played(second, false)];
  if (points.length === 0) return undefined;
  const counts = isComparable(answer, row["style_reference_token_count"], config);
  return {
    category: String(category),
    points,
    controlled: isThird && !counts ? points.map(() => 0) : points,
    slices: isObject(slices)
      ? Object.entries(slices).flatMap(([kind, names]) =>
          Array.isArray(names) ? names.map((name) => `${kind}/${String(name)}`) : [],
        )
      : [],
  };
}

function verdictsOf(games: unknown): (Verdict | null)[] {
  return Array.isArray(games)
    ? games.map((game: unknown) => (isObject(game) ? (game["verdict"] as Verdict | null) : null))
    : [];
}

/** Whether an answer has a length that may be compared with the reference. */
function isComparable(answer: unknown, reference: unknown, config: Config): boolean {
  if (typeof answer !== "string" || typeof reference !== "number") return true;
  const tokens = countTokens(answer);
  if (reference <= config.style_short_reference_tokens) return tokens <= config.style_short_response_tokens;
  const [low, high] = config.style_length_ratio_range ?? [0, Number.POSITIVE_INFINITY];
  return tokens / reference > low && tokens / reference < high;
}

function rates(prefix: string, battles: readonly Battle[], config: Config): JsonObject {
  const metrics: JsonObject = { [`${prefix}prompts`]: battles.length };
  for (const [name, pick] of [
    ["win_rate_no_SC", (battle: Battle) => battle.points],
    ["win_rate", (battle: Battle) => battle.controlled],
  ] as const) {
    // The control of version 2 is a regression over features of style, which is not included.
    if (name === "win_rate" && config.style_control_method === "bradley_terry") continue;
    const [mean, lower, upper] = bootstrap(battles, pick, config);
    Object.assign(metrics, {
      [prefix + name]: mean,
      [`${prefix}${name}_lower`]: lower,
      [`${prefix}${name}_upper`]: upper,
    });
  }
  return metrics;
}

/** The mean of resampled shares of points, and their percentiles. Games are drawn within their category. */
function bootstrap(battles: readonly Battle[], pick: (battle: Battle) => number[], config: Config): number[] {
  const random = new PyRandom(config.bootstrap_seed);
  const categories = [...new Set(battles.map(({ category }) => category))].sort();
  const groups = categories.map((name) => battles.filter(({ category }) => category === name).flatMap(pick));
  const shares = Array.from({ length: config.bootstrap_rounds }, () => {
    const drawn = groups.flatMap((group) => group.map(() => group[random.below(group.length)] ?? 0));
    return mean(drawn);
  }).sort((a, b) => a - b);
  const at = (share: number) => shares[Math.round(share * (shares.length - 1))] ?? 0;
  return [mean(shares), ...INTERVAL.map(at)];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
