import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isTruthy } from "../../base/python/door.ts";
import { RolloutError } from "../../records/errors.ts";
import {
  type ArtifactPaths,
  artifactPaths,
  compareManifest,
  createManifest,
  digestFile,
  JsonlWriter,
  keyOfRow,
  lockRun,
  makeOutputDirectory,
  type Row,
  readManifest,
  readRows,
  requireKey,
  writeManifest,
} from "../../records/files/door.ts";
import { RolloutKeyMap } from "../../records/metrics/door.ts";
import type { ServerClient } from "../../servers/calls/door.ts";
import { Collection } from "../collect/collect.ts";
import type { CollectLimits, CollectResult } from "../collect/collect-contract.ts";
import { LocalExecutor } from "../collect/local-executor.ts";
import type { PendingRow } from "../resume/resume.ts";
import { closing, type Evaluation, type EvaluationEvent } from "../run.ts";
import { summarize } from "../summarize.ts";
import {
  type ReverifyPlan,
  type ReverifySources,
  rolloutKeysOf,
  type StoredRollout,
} from "./reverify-plan.ts";

/** Number of lines passed to the writer before waiting for it. */
const COPIED_TOGETHER = 500;

/** How to treat existing results; `fresh` rejects them. */
export const EXISTING_OUTPUT = ["fresh", "overwrite", "resume", "append"] as const;
export type ExistingOutput = (typeof EXISTING_OUTPUT)[number];

export interface ScoreAgainOptions {
  client: ServerClient;
  sources: ReverifySources;
  plan: ReverifyPlan;
  output: string;
  existing: ExistingOutput;
  /** The resources server that scores the rollouts of an agent. */
  serverOf: (agent: string) => string;
  limits: CollectLimits;
  /** Config keys that affect the scores; they must be unchanged when a run is resumed. */
  config: Row;
  gymVersion: string;
  aggregate: boolean;
  onEvent: (event: EvaluationEvent) => void;
  drain?: AbortSignal;
  signal?: AbortSignal;
}

/** Turns `dir/name.jsonl` into `dir/unsafe_name.jsonl`, for scores of servers that did not declare them safe. */
export function unsafeOutput(output: string): string {
  return join(dirname(output), `unsafe_${basename(output)}`);
}

/** Rejects outputs that would overwrite the inputs or mix with earlier results. */
export function checkOutput(
  output: string,
  { materializedInputsPath, rolloutsPath, judgeFailedOnly }: ReverifySources,
  existing: ExistingOutput,
): void {
  const { failures } = artifactPaths(output);
  const sources = [materializedInputsPath, rolloutsPath, artifactPaths(rolloutsPath).failures];
  const appendsToSource = judgeFailedOnly && existing === "append" && output === rolloutsPath;
  if (!appendsToSource && [output, failures].some((path) => sources.includes(path))) {
    throw new RolloutError(
      "ROLLOUT_OUTPUT_IS_INPUT",
      `The output '${output}' is one of the input files; choose another --output.`,
    );
  }
  if (existing !== "fresh") return;
  const there = [output, failures].filter((path) => existsSync(path));
  if (there.length === 0) return;
  const ways = judgeFailedOnly ? "--resume, --append or --overwrite" : "--resume or --overwrite";
  throw new RolloutError(
    "ROLLOUT_OUTPUT_EXISTS",
    `${there.map((path) => `'${path}'`).join(" and ")} already ${there.length > 1 ? "exist" : "exists"}; use ${ways}, or choose another --output.`,
  );
}

/**
 * Scores stored rollouts again without calling the policy model. Concurrency is bounded, the run can be resumed, and a
 * failed verifier fails only its row.
 */
export async function scoreAgain(options: ScoreAgainOptions): Promise<Evaluation> {
  const { output, sources, existing, onEvent } = options;
  const paths = artifactPaths(output);
  const onNotice = (text: string) => onEvent({ type: "notice", text });
  await makeOutputDirectory(dirname(output));
  const lock = await lockRun(output);
  try {
    checkOutput(output, sources, existing);
    if (existing === "overwrite")
      for (const path of [paths.output, paths.failures, paths.aggregateMetrics, paths.statistics])
        await rm(path, { force: true });
    await checkManifest(options, paths, onNotice);
    const result = await score(options, paths);
    onEvent({ type: "collected", result });
    if (!options.aggregate || options.signal?.aborted) return { paths, result, summary: undefined };
    const { client, serverOf, signal } = options;
    const summary = await summarize({
      rollouts: [paths.output],
      failures: [paths.failures],
      materializedInputs: [],
      expected: options.plan.keys(),
      targets: paths,
      metricsFrom: { client, serverOf },
      onNotice,
      signal,
    });
    onEvent({ type: "summarized", summary });
    return { paths, result, summary };
  } finally {
    lock.release();
  }
}

/** A resumed run must read the same inputs as before; a new run records them. */
async function checkManifest(
  { sources, plan, existing, config, gymVersion }: ScoreAgainOptions,
  paths: ArtifactPaths,
  onNotice: (text: string) => void,
): Promise<void> {
  // An output that is appended to belongs to an earlier run, and so does its manifest.
  if (existing === "append") return;
  const input = await digestFile(sources.atifManifestPath ?? plan.sourcePath);
  const materializedInputs = await digestFile(sources.materializedInputsPath);
  const known =
    existing === "resume" && existsSync(paths.output) ? await readManifest(paths.manifest) : undefined;
  if (known) {
    const differences = compareManifest(known, { input, materializedInputs, config });
    if (differences.length === 0) return;
    const list = differences.map((difference) => `  - ${difference}`).join("\n");
    throw new RolloutError(
      "ROLLOUT_RESUME_REFUSED",
      `'${paths.output}' belongs to another run:\n${list}\nRun with the same settings, choose another --output, or start again with --overwrite.`,
    );
  }
  if (existing === "resume" && existsSync(paths.output)) {
    onNotice(`'${paths.manifest}' is missing: whether this is the same run cannot be checked.`);
    return;
  }
  const manifest = createManifest({
    createdAt: new Date(),
    gymVersion,
    input,
    materializedInputs: { ...materializedInputs, ...plan.inputs },
    config,
  });
  await writeManifest(paths.manifest, manifest);
}

async function score(options: ScoreAgainOptions, paths: ArtifactPaths): Promise<CollectResult> {
  const { client, plan, sources, limits, serverOf, onEvent, drain, signal } = options;
  const { images } = plan;
  const output = await JsonlWriter.open(paths.output, { images });
  const failures = await JsonlWriter.open(paths.failures, { images });
  return closing([output, failures], async () => {
    const settled = await settledKeys(paths, options.existing === "resume" ? limits.maxAttempts : undefined);
    if (sources.judgeFailedOnly && sources.rolloutsPath !== paths.output)
      await copySuccessful(sources, output, settled);
    const wanted = (task: number, rollout: number) => !settled.has(task, rollout);
    let total = 0;
    for (const [task, rollout] of plan.keys()) if (wanted(task, rollout)) total++;
    const collection = new Collection({
      executor: new LocalExecutor({
        client,
        target: ({ agent }) => ({ server: serverOf(agent), path: "/verify", stage: "verify" }),
      }),
      rows: pending(plan.rows(wanted)),
      total: plan.size,
      alreadyDone: plan.size - total,
      output,
      failures,
      limits,
      countAttempts: false,
      onOutcome: (event) => onEvent({ type: "outcome", ...event }),
      onNotice: (text) => onEvent({ type: "notice", text }),
      drain,
      stop: signal,
    });
    onEvent({ type: "started", collection, paths });
    return await collection.run();
  });
}

async function* pending(rows: Iterable<StoredRollout>): AsyncGenerator<PendingRow> {
  for (const row of rows) yield { ...row, attempt: 0 };
}

/**
 * Rollouts with a result and, with `maxAttempts`, those not to be retried: terminal ones, and those with all attempts
 * used.
 */
async function settledKeys(
  paths: Pick<ArtifactPaths, "output" | "failures">,
  maxAttempts: number | undefined,
): Promise<RolloutKeyMap> {
  const settled = await rolloutKeysOf(paths.output);
  if (maxAttempts === undefined) return settled;
  const attempts = new RolloutKeyMap();
  for await (const { row } of readRows(paths.failures, { skipBlank: true, onTornLine: () => {} })) {
    const key = keyOfRow(row);
    if (!key) continue;
    const count = (attempts.get(key.taskIndex, key.rolloutIndex) ?? 0) + 1;
    attempts.set(key.taskIndex, key.rolloutIndex, count);
    if (count >= maxAttempts || isTruthy(row["_ng_failure_terminal"]))
      settled.set(key.taskIndex, key.rolloutIndex, 0);
  }
  return settled;
}

/** Copies the rollouts that need no new score unchanged. */
async function copySuccessful(
  { rolloutsPath, signal }: ReverifySources,
  output: JsonlWriter,
  present: RolloutKeyMap,
): Promise<void> {
  let written: Promise<void>[] = [];
  for await (const { row, line } of readRows(rolloutsPath, { signal, onTornLine: () => {} })) {
    const { taskIndex, rolloutIndex } = requireKey(row, rolloutsPath, line);
    if (present.has(taskIndex, rolloutIndex)) continue;
    present.set(taskIndex, rolloutIndex, 0);
    written.push(output.append(line.text));
    if (written.length < COPIED_TOGETHER) continue;
    await Promise.all(written);
    written = [];
  }
  await Promise.all(written);
}
