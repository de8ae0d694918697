import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import { fileError, RolloutError } from "../errors.ts";
import { writeFileAtomically } from "../files/atomic-file.ts";
import {
  cohenKappa,
  gwetAC1,
  krippendorffAlpha,
  krippendorffAlphaOfTable,
  type Rating,
} from "../metrics/agreement.ts";
import { clusteredMean } from "../metrics/intervals.ts";
import {
  type Clustering,
  judgeErrors,
  predictionPowered,
  type Stratum,
  weightedTable,
} from "../metrics/judge-errors.ts";
import type { JudgedAgent, JudgedRollout, JudgeIdentity } from "./judged-run.ts";
import type { LabelLine } from "./labels.ts";
import { strataOf } from "./queue.ts";

const SCHEMA_VERSION = 1;
const count = z.number().int().min(0);
const ShareShape = z.object({ value: z.number(), low: z.number(), high: z.number() });

const Calibration = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  created_at: z.string(),
  environment: z.string().nullable(),
  agent: z.string(),
  /** The labelled rollouts: their number, and a digest of their rewards. */
  run: z.object({ scored: count, rewards: z.string() }),
  /** The calibration is about this judge only. */
  judge: z.object({ models: z.array(z.string().nullable()), prompt: z.string(), parser: z.string() }),
  /** Rollouts with at least this reward count as accepted. */
  threshold: z.number(),
  labels: z.object({
    rollouts: count,
    labels: count,
    labellers: z.array(z.string()),
    by_models: count,
    unclear: count,
    tied: count,
  }),
  strata: z.array(
    z.object({ votes: z.string(), accepts: z.boolean(), rollouts: count, right: count, wrong: count }),
  ),
  /** First what the judge says (accepts, rejects), then what people say (right, wrong). */
  confusion: z.object({
    labelled: z.array(z.array(z.number())),
    weighted_shares: z.array(z.array(z.number())),
  }),
  base_rate: z.number(),
  /** Between the judge and people, of all rollouts: each label counts for those that it stands for. */
  agreement: z.object({
    cohen_kappa: z.number().nullable(),
    gwet_ac1: z.number().nullable(),
    krippendorff_alpha: z.number().nullable(),
    /** Of the labels of people among each other; null if nobody labelled what another one did. */
    between_people_alpha: z.number().nullable(),
  }),
  true_positive_rate: ShareShape.nullable(),
  true_negative_rate: ShareShape.nullable(),
  model: z.object({
    tpr: z.number(),
    tnr: z.number(),
    tpr_variance: z.number(),
    tnr_variance: z.number(),
    covariance: z.number(),
  }),
  /** The mean of this run, by the judge and as people would judge. */
  scores: z.object({ raw: z.number(), corrected: ShareShape }),
});
/** How often one judge is right, from labels of people: `calibration.json`. */
export type Calibration = z.output<typeof Calibration>;

interface CalibrateOptions {
  threshold: number;
  now: Date;
}

/** Compares the verdicts of a judge with the labels of people. `labels` are those of each rollout, by `task:rollout`. */
export function calibrate(
  agent: JudgedAgent,
  labels: ReadonlyMap<string, readonly LabelLine[]>,
  { threshold, now }: CalibrateOptions,
): Calibration {
  const judge = onlyJudge(agent);
  const people = new Map([...labels].map(([key, own]) => [key, own.filter(({ by }) => by === "human")]));
  const consensus = new Map([...people].map(([key, own]) => [key, consensusOf(own)]));
  const strata = strataOf(agent.rollouts, threshold, 0).map(({ votes, accepts, rollouts }) => {
    const found = rollouts.map((rollout) => consensus.get(keyOf(rollout)));
    const times = (name: string) => found.filter((label) => label === name).length;
    return { votes, accepts, rollouts: rollouts.length, right: times("right"), wrong: times("wrong") };
  });
  rejectGaps(strata, [...consensus.values()]);
  const table = weightedTable(strata);
  const total = agent.rollouts.length;
  const shares = table.map((row) => row.map((cell) => cell / total));
  const { true_positive_rate, true_negative_rate, model } = judgeErrors(strata);
  const humans = [...people.values()].flat();
  const times = (name: string) => [...consensus.values()].filter((label) => label === name).length;
  return {
    schema_version: SCHEMA_VERSION,
    created_at: now.toISOString(),
    environment: agent.environment,
    agent: agent.agent,
    run: { scored: total, rewards: rewardsDigest(agent.rollouts) },
    judge,
    threshold,
    labels: {
      rollouts: times("right") + times("wrong"),
      labels: humans.length,
      labellers: [...new Set(humans.map(({ labeller }) => labeller))].sort(),
      by_models: [...labels.values()].flat().filter(({ by }) => by === "model").length,
      unclear: times("unclear"),
      tied: times("tied"),
    },
    strata,
    confusion: { labelled: labelledTable(strata), weighted_shares: shares },
    base_rate: sumOf(shares.map((row) => row[0] ?? 0)),
    agreement: agreementOf(table, people),
    true_positive_rate,
    true_negative_rate,
    model,
    scores: {
      raw: sumOf(agent.rollouts.map(({ reward }) => reward)) / total,
      corrected: shareOf(predictionPowered(strata, clusteringOf(agent.rollouts, threshold))),
    },
  };
}

function agreementOf(
  table: readonly (readonly number[])[],
  people: ReadonlyMap<string, readonly LabelLine[]>,
): Calibration["agreement"] {
  const ratings = (own: readonly LabelLine[]): Rating[] =>
    own.map(({ label }) => (label === "unclear" ? null : label));
  return {
    cohen_kappa: cohenKappa(table).value,
    gwet_ac1: gwetAC1(table).value,
    krippendorff_alpha: krippendorffAlphaOfTable(table).value,
    between_people_alpha: krippendorffAlpha([...people.values()].map(ratings)).value,
  };
}

/** The judge of the rollouts, if there is exactly one and its rows say what decides its verdicts. */
function onlyJudge({ agent, judges }: JudgedAgent): Calibration["judge"] {
  const [judge, ...others] = judges;
  if (judge === undefined || others.length > 0)
    throw notJudged(
      `The rollouts of '${agent}' were judged with ${judges.length} prompts or parsers, because its files changed during the run. Score them again with one: gym eval reverify.`,
    );
  const { models, prompt, parser } = judge;
  if (prompt === null || parser === null)
    throw notJudged(
      `The rollouts of '${agent}' do not say which prompt and parser their judge had: an older version wrote them, or a server in another language. Score them again: gym eval reverify.`,
    );
  return { models, prompt, parser };
}

function rejectGaps(strata: readonly (Stratum & { votes: string })[], labels: readonly unknown[]): void {
  if (labels.every((label) => label === undefined))
    throw notJudged("There is no label of a person for a rollout of this run. Label some: gym judge label.");
  const gaps = strata.filter(({ right, wrong }) => right + wrong === 0);
  if (gaps.length === 0) return;
  const list = gaps.map(
    ({ votes, accepts, rollouts }) =>
      `${rollouts} that the judge ${accepts ? "accepts" : "rejects"}${VOTES[votes] ?? ""}`,
  );
  throw notJudged(
    `None of these rollouts is labelled as right or wrong: ${list.join("; ")}. The labels say nothing about them. Label more: gym judge label.`,
  );
}

const VOTES: Readonly<Record<string, string>> = {
  split: " with votes that disagree",
  unanimous: " with equal votes",
  none: " without being asked",
};

function notJudged(message: string): RolloutError {
  return new RolloutError("ROLLOUT_NOT_JUDGED", message);
}

/** What most people say: `tied` if as many say right as wrong, undefined without a label of a person. */
function consensusOf(labels: readonly LabelLine[]): string | undefined {
  if (labels.length === 0) return undefined;
  const times = (name: string) => labels.filter(({ label }) => label === name).length;
  const [right, wrong] = [times("right"), times("wrong")];
  if (right + wrong === 0) return "unclear";
  return right === wrong ? "tied" : right > wrong ? "right" : "wrong";
}

function labelledTable(strata: readonly Stratum[]): number[][] {
  return [true, false].map((accepts) => {
    const own = strata.filter((stratum) => stratum.accepts === accepts);
    return [sumOf(own.map(({ right }) => right)), sumOf(own.map(({ wrong }) => wrong))];
  });
}

/** The verdicts of each task: 1 where the judge accepts. */
export function verdictsByTask(rollouts: readonly JudgedRollout[], threshold: number): Map<number, number[]> {
  const tasks = new Map<number, number[]>();
  for (const { task, reward } of rollouts) {
    const verdict = reward >= threshold ? 1 : 0;
    const own = tasks.get(task);
    if (own) own.push(verdict);
    else tasks.set(task, [verdict]);
  }
  return tasks;
}

function clusteringOf(rollouts: readonly JudgedRollout[], threshold: number): Clustering {
  const tasks = [...verdictsByTask(rollouts, threshold).values()];
  const repeats = rollouts.length / tasks.length;
  const { value, standard_error } = clusteredMean(tasks);
  const independent = (value * (1 - value)) / rollouts.length;
  return {
    tasks: tasks.length,
    repeats,
    effect: independent > 0 && standard_error !== null ? standard_error ** 2 / independent : repeats,
  };
}

/** Tells whether a run is the one that was labelled. */
export function rewardsDigest(rollouts: readonly JudgedRollout[]): string {
  const hash = createHash("sha256");
  for (const { task, rollout, reward } of rollouts) hash.update(`${task}:${rollout}:${reward}\n`);
  return hash.digest("hex").slice(0, 16);
}

function keyOf({ task, rollout }: JudgedRollout): string {
  return `${task}:${rollout}`;
}

function shareOf({ value, low, high }: { value: number; low: number; high: number }) {
  return { value, low, high };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** How the judge of a run differs from the calibrated one; empty if they are the same. */
export function staleReasons(
  { judge }: Pick<Calibration, "judge">,
  judges: readonly JudgeIdentity[],
): string[] {
  const reasons = new Set<string>();
  const names = (models: readonly (string | null)[]) =>
    models.map((model) => model ?? "a model without a name").join(", ");
  for (const { models, prompt, parser } of judges) {
    if (names(models) !== names(judge.models))
      reasons.add(`the judge's model is ${names(models)}, and was ${names(judge.models)}`);
    if (prompt !== judge.prompt) reasons.add(`the judge's prompt or settings ${changed(prompt)}`);
    if (parser !== judge.parser) reasons.add(`the code that reads the judge's replies ${changed(parser)}`);
  }
  return [...reasons];
}

function changed(digest: string | null): string {
  return digest === null ? "are not recorded" : "changed";
}

export async function writeCalibration(file: string, calibration: Calibration): Promise<void> {
  await writeFileAtomically(file, [`${JSON.stringify(calibration, null, 2)}\n`]);
}

/** Reads a calibration; undefined if the file does not exist. */
export async function readCalibration(file: string): Promise<Calibration | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw fileError(error, file, "read");
  }
  try {
    return Calibration.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error);
    throw new RolloutError(
      "ROLLOUT_CALIBRATION_INVALID",
      `'${file}' is not a calibration of a judge: ${reason}`,
      { cause: error },
    );
  }
}
