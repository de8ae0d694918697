import type { JsonObject, MetricsHooks } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics } from "nemo-gym/metrics";
import { readJudgement } from "../../libraries/proofs/judgement.ts";

type Judgement = ReturnType<typeof readJudgement>;

interface Scores {
  precision: number;
  recall: number;
  f1: number;
}

/** Accuracy and confusion counts, and precision, recall and F1 of the judgement "Yes" over all tasks. */
export const judgementMetrics: MetricsHooks = {
  compute(tasks) {
    const { metrics, maxK } = passMajorityMetrics(tasks, {
      answerField: "extracted_judgement",
      scores: ({ reward, tp, fp, fn, tn }) => ({
        accuracy: Number(reward),
        true_positive: Number(tp),
        false_positive: Number(fp),
        false_negative: Number(fn),
        true_negative: Number(tn),
      }),
    });
    // Tasks whose gold judgement cannot be read say nothing about the judge.
    const judged = tasks.flatMap((task) => {
      const gold = readJudgement(String(task[0]?.["expected_judgement"] ?? ""));
      return gold === null ? [] : [{ gold, given: task.map(judgementOf) }];
    });
    const scoresWith = (choose: (given: Judgement[], gold: Judgement) => Judgement) =>
      corpusScores(judged.map(({ gold, given }) => ({ gold, given: choose(given, gold) })));
    const runs: Scores[] = [];
    for (let k = 1; k <= maxK; k++) {
      runs.push(scoresWith((given) => given[k - 1] ?? null));
      write(metrics, `pass@1[avg-of-${k}]`, meanScores(runs));
      const best = scoresWith((given, gold) => {
        const first = given.slice(0, k);
        return first.includes(gold) ? gold : firstOf(first);
      });
      write(metrics, `pass@${k}`, best);
      write(
        metrics,
        `majority@${k}`,
        scoresWith((given) => majorityOf(given.slice(0, k))),
      );
    }
    if (maxK > 0) metrics["total_positives"] = judged.filter(({ gold }) => gold === "Yes").length;
    return metrics;
  },
  key: (metrics) => ({
    ...("mean/reward" in metrics && { "mean/reward": metrics["mean/reward"] }),
    ...highestKMetrics(metrics, "pass@1[avg-of-{k}]", {
      scoreNames: ["accuracy", "no_answer", "precision", "recall", "f1"],
    }),
    ...highestKMetrics(metrics, "pass@{k}", { scoreNames: ["accuracy", "no_answer", "f1"] }),
    ...highestKMetrics(metrics, "majority@{k}", { scoreNames: ["accuracy", "f1"] }),
  }),
};

function judgementOf({ extracted_judgement: given }: JsonObject): Judgement {
  return given === "Yes" || given === "No" ? given : null;
}

function corpusScores(judged: readonly { gold: Judgement; given: Judgement }[]): Scores {
  const positives = judged.filter(({ gold }) => gold === "Yes");
  const found = judged.filter(({ given }) => given === "Yes");
  const right = found.filter(({ gold }) => gold === "Yes").length;
  const precision = found.length > 0 ? right / found.length : 1;
  const recall = positives.length > 0 ? right / positives.length : 1;
  const sum = precision + recall;
  return { precision, recall, f1: sum > 0 ? (2 * precision * recall) / sum : 0 };
}

function firstOf(given: readonly Judgement[]): Judgement {
  return given.find((each) => each !== null) ?? null;
}

function majorityOf(given: readonly Judgement[]): Judgement {
  const count = (judgement: Judgement) => given.filter((each) => each === judgement).length;
  if (count("Yes") === count("No")) return firstOf(given);
  return count("Yes") > count("No") ? "Yes" : "No";
}

function meanScores(runs: readonly Scores[]): Scores {
  const mean = (name: keyof Scores) => runs.reduce((sum, run) => sum + run[name], 0) / runs.length;
  return { precision: mean("precision"), recall: mean("recall"), f1: mean("f1") };
}

function write(metrics: JsonObject, prefix: string, scores: Scores): void {
  for (const [name, score] of Object.entries(scores)) metrics[`${prefix}/${name}`] = 100 * score;
}
