import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";
import { type Prediction, readPrediction, type Scores } from "./prediction.ts";

const number = z.number().nullish();
const Gold = z.looseObject({ score_1: number, score_2: number, ranking: number });
const GoldRubric = Gold.extend({ rubric_id: z.number().int() });

const Config = z.object({
  score_weight: z.number().default(1),
  ranking_weight: z.number().default(2),
  rubric_weight: z.number().default(0.5),
  /** The reward of an answer that does not have the format. */
  parse_failure_penalty: z.number().default(-100),
});

/** The model is a reward model: it scores two responses by rubrics. The reward is minus its distance from the gold scores. */
export default defineResourcesServer({
  config: Config,
  row: z.object({
    id: z.union([z.number().int(), z.string()]),
    ground_truth_overall: Gold.nullish().transform((gold) => gold ?? null),
    ground_truth_rubric_scores: z
      .array(GoldRubric)
      .nullish()
      .transform((gold) => gold ?? null),
  }),
  seed: z.looseObject({ id: z.union([z.number().int(), z.string()]) }),
  echo: ["ground_truth_overall", "ground_truth_rubric_scores"],
  reverifyMode: "stateless",
  verify({ config, row, response }) {
    const gold = row.ground_truth_overall ?? {};
    // The last of several gold scores of a rubric counts.
    const goldRubrics = new Map((row.ground_truth_rubric_scores ?? []).map((each) => [each.rubric_id, each]));
    const prediction = readPrediction(outputText(response));
    if (!prediction || !hasRubrics(prediction, goldRubrics)) return failure(config.parse_failure_penalty);
    const { overall, rubrics } = prediction;
    const distances = distancesOf(overall, gold);
    const rubricDistances = rubrics
      .map(({ id, scores }) => distancesOf(scores, goldRubrics.get(id) ?? {}))
      .filter((each) => Object.values(each).some((distance) => distance !== null));
    const penalty = (each: Distances) =>
      config.score_weight * ((each.score_1 ?? 0) + (each.score_2 ?? 0)) +
      config.ranking_weight * (each.ranking ?? 0);
    const rubricPenalty = mean(rubricDistances.map(penalty)) ?? 0;
    const reward = -penalty(distances) - config.rubric_weight * rubricPenalty;
    return {
      reward: Number.isFinite(reward) ? reward + 0 : config.parse_failure_penalty,
      predicted_score_1: overall.score_1,
      predicted_score_2: overall.score_2,
      predicted_ranking: overall.ranking,
      format_correct: 1,
      overall_score_1_l1: distances.score_1,
      overall_score_2_l1: distances.score_2,
      overall_ranking_l1: distances.ranking,
      rubric_score_l1: mean(rubricDistances.flatMap(({ score_1, score_2 }) => present(score_1, score_2))),
      rubric_ranking_l1: mean(rubricDistances.flatMap(({ ranking }) => present(ranking))),
      overall_ranking_binary_acc:
        gold.ranking == null ? null : Number(prefersFirst(overall.ranking) === prefersFirst(gold.ranking)),
    };
  },
});

type Distances = Record<keyof Scores, number | null>;

function distancesOf(given: Scores, gold: z.output<typeof Gold>): Distances {
  const distance = (key: keyof Scores) => {
    const wanted = gold[key];
    return typeof wanted === "number" ? Math.abs(given[key] - wanted) : null;
  };
  return { score_1: distance("score_1"), score_2: distance("score_2"), ranking: distance("ranking") };
}

/** The rubrics of the answer must be those of the gold scores, each once. */
function hasRubrics({ rubrics }: Prediction, gold: ReadonlyMap<number, unknown>): boolean {
  if (gold.size === 0) return true;
  return rubrics.length === gold.size && new Set(rubrics.map(({ id }) => id)).size === gold.size
    ? rubrics.every(({ id }) => gold.has(id))
    : false;
}

/** Ranks go from 1 (the first is much better) to 6. */
function prefersFirst(ranking: number): boolean {
  return ranking < 3.5;
}

function failure(reward: number) {
  return {
    reward,
    format_correct: 0,
    ...{ predicted_score_1: null, predicted_score_2: null, predicted_ranking: null },
    ...{ overall_score_1_l1: null, overall_score_2_l1: null, overall_ranking_l1: null },
    ...{ rubric_score_l1: null, rubric_ranking_l1: null, overall_ranking_binary_acc: null },
  };
}

function present(...values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function mean(values: readonly number[]): number | null {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
