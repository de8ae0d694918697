import { describe, expect, it } from "vitest";
import { clusteredMean } from "./intervals.ts";
import {
  correctedDifference,
  judgeErrors,
  predictionPowered,
  roganGladen,
  type Stratum,
  weightedTable,
} from "./judge-errors.ts";
import { seededNumbers } from "./seeded-random.ts";

const JUDGES = 2_000;

interface Simulated {
  task: number;
  right: boolean;
  accepts: boolean;
  split: boolean;
}

/** Three votes a rollout. A vote of the judge is right as often as its rate says; the majority decides. */
function rolloutsOf(
  random: () => number,
  {
    tasks,
    repeats,
    share,
    tpr,
    tnr,
  }: { tasks: number; repeats: number; share: number; tpr: number; tnr: number },
): Simulated[] {
  return Array.from({ length: tasks * repeats }, (_, index) => index).reduce<{
    rows: Simulated[];
    ease: number;
  }>(
    (state, index) => {
      // The repeats of a task resemble each other: half of the tasks are always or never solved.
      if (index % repeats === 0) state.ease = random() < 0.5 ? Number(random() < share) : share;
      const right = random() < state.ease;
      const votes = [0, 0, 0].map(() => (right ? random() < tpr : random() > tnr));
      const accepted = votes.filter(Boolean).length;
      state.rows.push({
        task: Math.floor(index / repeats),
        right,
        accepts: accepted > 1,
        split: accepted === 1 || accepted === 2,
      });
      return state;
    },
    { rows: [], ease: 0 },
  ).rows;
}

function rewardsOf(rows: readonly Simulated[]): number[][] {
  const tasks = new Map<number, number[]>();
  for (const { task, accepts } of rows) tasks.set(task, [...(tasks.get(task) ?? []), accepts ? 1 : 0]);
  return [...tasks.values()];
}

/** Labels a part of each kind of rollouts, more of those about which votes disagree. */
function labelled(random: () => number, rows: readonly Simulated[], labels: number): Stratum[] {
  const kinds = [true, false].flatMap((accepts) =>
    [true, false].map((split) => ({
      accepts,
      own: rows.filter((row) => row.accepts === accepts && row.split === split),
    })),
  );
  return kinds
    .filter(({ own }) => own.length > 0)
    .map(({ accepts, own }) => {
      const drawn = own
        .map((row) => ({ row, order: random() }))
        .sort((a, b) => a.order - b.order)
        .slice(0, Math.min(own.length, labels / 4));
      const right = drawn.filter(({ row }) => row.right).length;
      return { accepts, rollouts: own.length, right, wrong: drawn.length - right };
    });
}

function clusteringOf(rows: readonly Simulated[], repeats: number) {
  const { value, standard_error } = clusteredMean(rewardsOf(rows));
  const independent = (value * (1 - value)) / rows.length;
  return {
    tasks: rows.length / repeats,
    repeats,
    effect: independent > 0 ? (standard_error ?? 0) ** 2 / independent : repeats,
  };
}

/** How many of 2,000 simulated judges have a corrected mean whose interval contains the truth. */
function coverage(seed: number, repeats: number): { same: number; other: number; raw: number } {
  const random = seededNumbers(seed);
  const covered = { same: 0, other: 0, raw: 0 };
  for (let judge = 0; judge < JUDGES; judge++) {
    const rates = { tpr: 0.65 + 0.3 * random(), tnr: 0.65 + 0.3 * random(), repeats };
    const share = 0.2 + 0.6 * random();
    const rows = rolloutsOf(random, { ...rates, tasks: 200, share });
    const strata = labelled(random, rows, 120);
    const clustering = clusteringOf(rows, repeats);
    const same = predictionPowered(strata, clustering);
    if (same.low <= share && share <= same.high) covered.same++;
    const truth = 0.2 + 0.6 * random();
    const other = rewardsOf(rolloutsOf(random, { ...rates, tasks: 200, share: truth }));
    const raw = clusteredMean(other);
    const corrected = roganGladen({ ...raw, units: raw.tasks }, judgeErrors(strata));
    if (corrected.low <= truth && truth <= corrected.high) covered.other++;
    if (Number(raw.low) <= truth && truth <= Number(raw.high)) covered.raw++;
  }
  return { same: covered.same / JUDGES, other: covered.other / JUDGES, raw: covered.raw / JUDGES };
}

describe("the corrected mean of 2,000 simulated judges", () => {
  it.each([
    [1, 1],
    [2, 4],
  ])("covers the truth in 93 to 97 percent (seed %i, repeats %i)", (seed, repeats) => {
    const { same, other, raw } = coverage(seed, repeats);
    for (const share of [same, other]) {
      expect(share).toBeGreaterThanOrEqual(0.93);
      expect(share).toBeLessThanOrEqual(0.97);
    }
    // Without a correction the interval is about the judge, not about the answers.
    expect(raw).toBeLessThan(0.7);
  });
});

const strata: Stratum[] = [
  { accepts: true, rollouts: 600, right: 54, wrong: 6 },
  { accepts: false, rollouts: 400, right: 10, wrong: 40 },
];

describe("judge errors", () => {
  it("weights labels by the rollouts that they stand for", () => {
    expect(weightedTable(strata)).toEqual([
      [540, 60],
      [80, 320],
    ]);
    const { true_positive_rate, true_negative_rate } = judgeErrors(strata);
    expect(true_positive_rate?.value).toBeCloseTo(540 / 620, 12);
    expect(true_negative_rate?.value).toBeCloseTo(320 / 380, 12);
    expect(predictionPowered(strata).value).toBeCloseTo(0.62, 12);
  });

  it("is not changed by labelling one kind of rollouts more than another", () => {
    const split = strata.flatMap((each) => [
      { ...each, rollouts: each.rollouts / 2 },
      { ...each, rollouts: each.rollouts / 2, right: each.right * 3, wrong: each.wrong * 3 },
    ]);
    expect(predictionPowered(split).value).toBeCloseTo(0.62, 12);
    expect(judgeErrors(split).true_positive_rate?.value).toBeCloseTo(540 / 620, 12);
  });

  it("has no rate of what no label names, and wide intervals", () => {
    const errors = judgeErrors([{ accepts: true, rollouts: 100, right: 3, wrong: 0 }]);
    expect(errors.true_negative_rate).toBeNull();
    expect(errors.true_positive_rate).toMatchObject({ value: 1, high: 1 });
    const all = predictionPowered([{ accepts: true, rollouts: 100, right: 3, wrong: 0 }]);
    expect([all.value, all.low < 0.6]).toEqual([1, true]);
  });

  it("knows a run whose rollouts are all labelled up to the choice of its tasks", () => {
    const all = predictionPowered([
      { accepts: true, rollouts: 60, right: 55, wrong: 5 },
      { accepts: false, rollouts: 40, right: 5, wrong: 35 },
    ]);
    expect(all.value).toBeCloseTo(0.6, 12);
    expect([all.low, all.high].map((end) => end.toFixed(2))).toEqual(["0.50", "0.69"]);
  });
});

describe("Rogan and Gladen", () => {
  const known = {
    model: { tpr: 0.9, tnr: 0.8, tpr_variance: 0, tnr_variance: 0, covariance: 0 },
  };

  it("inverts the errors of the judge", () => {
    // 0.5 right: the judge accepts 0.45 of all as right, and 0.1 that are wrong.
    const { value, low, high } = roganGladen({ value: 0.55, standard_error: 0.035, units: 200 }, known);
    expect(value).toBeCloseTo(0.5, 12);
    expect([low, high].map((end) => end.toFixed(3))).toEqual(["0.401", "0.599"]);
    expect(correctedDifference({ value: 0.07, standard_error: 0.035, tasks: 200 }, known)?.value).toBeCloseTo(
      0.1,
      12,
    );
  });

  it("is wider with few tasks", () => {
    const width = (units: number) => {
      const { low, high } = roganGladen({ value: 0.55, standard_error: 0.035, units }, known);
      return high - low;
    };
    expect(width(5) / width(200)).toBeCloseTo(2.776 / 1.972, 2);
  });

  it("stays in range", () => {
    expect(roganGladen({ value: 1, standard_error: 0, units: 50 }, known)).toMatchObject({
      value: 1,
      high: 1,
    });
    expect(roganGladen({ value: 0.05, standard_error: 0.01, units: 50 }, known)).toMatchObject({
      value: 0,
      low: 0,
    });
  });

  it("says nothing about the runs of a judge that tosses a coin", () => {
    const coin = judgeErrors([
      { accepts: true, rollouts: 500, right: 20, wrong: 20 },
      { accepts: false, rollouts: 500, right: 20, wrong: 20 },
    ]);
    const corrected = roganGladen({ value: 0.5, standard_error: 0.02, units: 500 }, coin);
    expect(corrected).toMatchObject({ low: 0, high: 1, informative: false });
    expect(correctedDifference({ value: 0.1, standard_error: 0.02, tasks: 200 }, coin)?.informative).toBe(
      false,
    );
    expect(correctedDifference({ value: 0.1, standard_error: null, tasks: 1 }, coin)).toBeNull();
  });
});
