import { codePointLength, strip } from "nemo-gym/python";
import type { Config } from "./config.ts";
import type { Comparison } from "./parse.ts";

export interface Compared extends Comparison {
  response_i: number;
  response_j: number;
  judge_idx: number;
}

export interface Texts {
  readonly answer: string;
  readonly reasoning: string;
}

/** Ranks go from 1 (the first is much better) to 6; a rank above the middle favours the second response. */
const MIDDLE_RANK = 3.5;

/** One reward per response: its mean score, with the bonuses and penalties of the config. */
export function rewardsOf(results: readonly Compared[], texts: readonly Texts[], config: Config): number[] {
  const scores: number[][] = texts.map(() => []);
  for (const { response_i, response_j, score_1, score_2, ranking } of results) {
    const shift = score_1 === score_2 ? MIDDLE_RANK - ranking : 0;
    scores[response_i]?.push(score_1 + shift);
    scores[response_j]?.push(score_2 - shift);
  }
  const base = scores.map((own) => (own.length > 0 ? mean(own) : config.default_score));
  const threshold =
    [...base].sort((a, b) => b - a)[Math.max(0, Math.trunc(base.length * config.top_percentile) - 1)] ?? 0;
  const answers = texts.map(({ answer }) => codePointLength(answer));
  const reasonings = texts.map(({ reasoning }) => codePointLength(reasoning));
  const rewards = [...base];
  for (const [lengths, bonus] of [
    [reasonings, config.reasoning_bonus],
    [answers, config.answer_bonus],
  ] as const) {
    const shortest = shortestOf(lengths);
    if ((base[shortest] ?? Number.NEGATIVE_INFINITY) >= threshold)
      rewards[shortest] = (rewards[shortest] ?? 0) + bonus;
  }
  for (const [measures, coefficient] of [
    [reasonings, config.group_reasoning_length_penalty_coeff],
    [answers, config.group_answer_length_penalty_coeff],
    [texts.map(({ answer }) => styleDensity(answer)), config.group_style_penalty_coeff],
  ] as const) {
    const penalties = groupPenalties(measures);
    for (const [index, penalty] of penalties.entries())
      rewards[index] = (rewards[index] ?? 0) + coefficient * penalty;
  }
  return rewards;
}

export function metricsOf(results: readonly Compared[]): Record<string, number> {
  const scores = results.flatMap(({ score_1, score_2 }) => [score_1, score_2]);
  const average = mean(scores);
  return {
    mean_individual_score: average,
    std_individual_score: Math.sqrt(mean(scores.map((score) => (score - average) ** 2))),
    tiebreak_usage_rate: mean(results.map(({ score_1, score_2 }) => Number(score_1 === score_2))),
  };
}

/** The index of the smallest length above 0; -1 if there is none. */
function shortestOf(lengths: readonly number[]): number {
  const filled = lengths.filter((length) => length > 0);
  return filled.length === 0 ? -1 : lengths.indexOf(Math.min(...filled));
}

/** How far each response is below the group's mean: positive for small measures, negative for large ones. */
function groupPenalties(measures: readonly number[]): number[] {
  const smallest = Math.min(...measures);
  const range = Math.max(...measures) - smallest;
  if (range === 0) return measures.map(() => 0);
  const weights = measures.map((measure) => 1 - (measure - smallest) / range);
  const average = mean(weights);
  return weights.map((weight) => weight - average);
}

const STYLE_MARKS = [
  /^#{1,6}\s/gm,
  /^\s*(?:[-*+]|\d+\.)\s/gm,
  /\*\*[^*]+\*\*|__[^_]+__/g,
  /\p{Extended_Pictographic}/gu,
];

/** Headings, list items, bold texts and emoji per character, outside of code blocks. */
function styleDensity(text: string): number {
  const prose = strip(text.replace(/```.*?```/gs, ""));
  const marks = STYLE_MARKS.reduce((count, pattern) => count + [...prose.matchAll(pattern)].length, 0);
  return marks === 0 ? 0 : marks / codePointLength(prose);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
