import { suggestMisspelt } from "../../base/suggest.ts";
import type { ResolvedConfig } from "../../config/door.ts";
import { outputPath } from "../../config/paths.ts";
import { RolloutError } from "../../records/errors.ts";
import { type EvaluationOptions, runEvaluation } from "../../run/door.ts";
import { headUrl, runningConfig, runningServers } from "../../run/head.ts";
import { Repeats, type RepeatsSetting, type RolloutDriver } from "../../run/light-door.ts";
import { runSettings } from "../../run/settings.ts";
import { RunClient } from "../../servers/calls/door.ts";
import { CREATE_PARAM_KEYS, readCreateParams, readWith, ValidationError } from "../../wire/schemas/door.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { confirm } from "../confirm.ts";
import { rejectUnusedModelUrl } from "../env/model-flags.ts";
import { CommandKeysError, UsageError } from "../errors.ts";
import { relativePath } from "../files.ts";
import { calibrationSetting, correctedScores, printCorrected } from "../judge/corrected-scores.ts";
import { queueOf } from "../queue/queue-options.ts";
import { healthJsonEvent, healthSetting, printHealth } from "./health-check.ts";
import { collectionKeys, servingKeys } from "./keys.ts";
import { completion, exitCodeOf, printReport, printTracked } from "./report.ts";
import { dropEmptyDirectory, dropRejectedRun, newOutput } from "./run-files.ts";
import { createRunView, followRun, type RunView } from "./run-view.ts";
import { skillsPath } from "./skills-key.ts";
import { checkThresholds, THRESHOLD_MISSED } from "./thresholds.ts";

/** Fields that replace those of every row: an invalid one would fail every rollout, so it is rejected first. */
function checkSampling(overrides: Readonly<Record<string, unknown>> | undefined): void {
  for (const name of Object.keys(overrides ?? {})) {
    const nearest = CREATE_PARAM_KEYS.includes(name) ? undefined : suggestMisspelt(name, CREATE_PARAM_KEYS);
    if (nearest !== undefined)
      throw new CommandKeysError(
        `invalid configuration: responses_create_params has no field '${name}'. Did you mean '${nearest}'?`,
      );
  }
  // Fields of other protocols are checked by the servers.
  const known = Object.entries(overrides ?? {}).filter(([name]) => CREATE_PARAM_KEYS.includes(name));
  try {
    readWith(readCreateParams, { input: [], ...Object.fromEntries(known) }, ["responses_create_params"]);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.detail.map(
      ({ loc, msg, input }) => `${loc.join(".")} (${msg}, not ${JSON.stringify(input)})`,
    );
    throw new CommandKeysError(`invalid configuration: ${problems.join("; ")}.`);
  }
}

/** Runs `gym eval run`, with its own servers or with running ones, or the members of a suite. */
export async function evalRun(context: CommandContext): Promise<number> {
  if (context.flags["suite"] !== undefined) return (await import("../suite/run-suite.ts")).runSuite(context);
  return context.flags["no-serve"] ? againstRunningServers(context) : evalWithOwnServers(context);
}

/** Runs one evaluation with servers of its own. `onResult` receives what the report shows. */
export async function evalWithOwnServers(
  context: CommandContext,
  onResult?: (evaluation: FollowedEvaluation) => void,
): Promise<number> {
  const { io } = context;
  const config = await context.resolve({ requireServers: true });
  rejectUnusedModelUrl(context.flags, config);
  const keys = readKeys({ ...collectionKeys, ...servingKeys }, config);
  checkKeys(keys);
  const input = keys.input_jsonl_fpath;
  const isBenchmark = asList(context.flags["benchmark"]).length > 0 && input === undefined;
  const split = keys.split ?? (isBenchmark ? "benchmark" : undefined);
  if (input !== undefined && split !== undefined)
    throw new UsageError(
      "--input and --split cannot be combined: give a file, or collate a split of the config's datasets",
    );
  const given = keys.output_jsonl_fpath;
  const agent = config.servers.find(({ type }) => type === "responses_api_agents");
  const output =
    given === undefined
      ? await newOutput(io.cwd, keys.agent_name ?? agent?.name ?? "run", new Date())
      : outputPath(given, io.cwd);
  const view = createRunView(context);
  try {
    const driver = await configuredDriver(context, keys.rollout_collection_driver);
    const queue = queueOf(context, config);
    const options = {
      ...evaluationOptions(context, keys),
      output,
      input,
      split,
      mayPrepare: (names: readonly string[]) => mayPrepare(context, names),
      driver,
      queue,
      ownsProcess: true,
    };
    return await evaluate(context, config, options, keys, view, onResult);
  } catch (error) {
    if (given === undefined && error instanceof RolloutError && error.code === "ROLLOUT_ROWS_REFUSED")
      await dropRejectedRun(output);
    throw error;
  } finally {
    view.close();
    if (given === undefined) await dropEmptyDirectory(output);
  }
}

/** `--prepare`, or the answer on a terminal. */
async function mayPrepare(context: CommandContext, names: readonly string[]): Promise<boolean> {
  if (context.flags["prepare"]) return true;
  const { stdin } = context.io;
  if (stdin === undefined || !("isTTY" in stdin && stdin.isTTY)) return false;
  return (await confirm(context, `Download the rows of ${names.join(", ")} first?`)) ?? false;
}

function asList(given: unknown): readonly unknown[] {
  return given === undefined ? [] : [given].flat();
}

async function againstRunningServers(context: CommandContext): Promise<number> {
  if (context.flags["queue"] !== undefined)
    throw new UsageError(
      "`--queue` cannot be combined with `--no-serve`: start workers with `gym worker --no-serve`.",
    );
  if (context.flags["agent-type"] !== undefined)
    throw new UsageError(
      "`--agent-type` cannot be combined with `--no-serve`: running servers keep their agents. Name a running agent with --agent.",
    );
  const config = await context.resolve({ noModel: true, offline: true });
  const keys = readKeys(
    {
      ...collectionKeys,
      input_jsonl_fpath: { ...collectionKeys.input_jsonl_fpath, required: true },
      output_jsonl_fpath: { ...collectionKeys.output_jsonl_fpath, required: true },
    },
    config,
  );
  checkKeys(keys);
  const output = outputPath(keys.output_jsonl_fpath, context.io.cwd);
  const servers = await runningServers(headUrl(config), context.signal);
  const agents = servers
    .filter((server) => server.server_type === "responses_api_agents")
    .map((server) => server.process_name);
  const addresses = new Map(servers.map((server) => [server.process_name, server.url]));
  const client = new RunClient({ addresses });
  const refreshAddresses = async (signal: AbortSignal) => {
    for (const { process_name: name, url } of await runningServers(headUrl(config), signal))
      if (addresses.has(name)) addresses.set(name, url);
  };
  const view = createRunView(context);
  try {
    const options = {
      ...evaluationOptions(context, keys),
      output,
      input: keys.input_jsonl_fpath,
      servers: { client, agents, refreshAddresses },
      captureConfig: await captureKeys(config, headUrl(config), context.signal),
    };
    return await evaluate(context, config, options, keys, view);
  } finally {
    view.close();
    await client.close();
  }
}

export type FollowedEvaluation = Awaited<ReturnType<typeof followRun>>;
type Keys = KeyValues<typeof collectionKeys>;

/** The rows to run; undefined: all. */
function selectionOf(keys: Keys): EvaluationOptions["select"] {
  const { row_where: where, row_ids: given, row_sample: sample, row_seed: seed } = keys;
  const ids = typeof given === "string" ? given.split(",").map((id) => id.trim()) : given;
  if (ids !== undefined && !Array.isArray(ids))
    throw new UsageError("argument --ids: expected ids separated by commas, or a list");
  if (seed !== undefined && sample === undefined)
    throw new UsageError("argument --seed: it belongs to --sample N");
  if (where === undefined && ids === undefined && sample === undefined) return undefined;
  return { where, ids: ids?.map(String), sample, seed };
}

/** The options of the run from flags and keys. */
function evaluationOptions(context: CommandContext, keys: Keys): EvaluationOptions {
  const { io, env, installRoot, signal } = context;
  return {
    ...settingsOf(keys),
    ...(keys.interleave_repeats && { repeatOrder: "breadth" }),
    select: selectionOf(keys),
    skills: skillsPath(keys.skills),
    force: Boolean(context.flags["force"]),
    aggregate: !keys.disable_aggregation,
    healthCheck: healthSetting(keys),
    drain: signal,
    signal: io.stopSignal,
    driverSettings: keys,
    roots: context.roots,
    installRoot,
    cwd: io.cwd,
    env,
  };
}

/** The options that have a config key of their own. */
function settingsOf(keys: Readonly<Record<string, unknown>>): EvaluationOptions {
  return Object.fromEntries(Object.entries(runSettings).map(([option, { key }]) => [option, keys[key]]));
}

async function evaluate(
  context: CommandContext,
  config: ResolvedConfig,
  options: EvaluationOptions & { output: string },
  keys: Keys,
  view: RunView,
  onResult?: (evaluation: FollowedEvaluation) => void,
): Promise<number> {
  const setting = await calibrationSetting(context, keys);
  const evaluation = await followRun(runEvaluation(config, options), view);
  view.close();
  onResult?.(evaluation);
  const { health, tracked, missedThresholds } = evaluation;
  if (health && context.json) context.out(JSON.stringify(healthJsonEvent(health)));
  const exitCode = exitCodeOf(evaluation, context);
  const corrected = exitCode === 0 ? await correctedScores(context, options.output, setting) : undefined;
  const scores = corrected?.scores ?? [];
  if (context.json && scores.length > 0) context.out(JSON.stringify({ event: "corrected", scores }));
  printReport(evaluation, context, { aggregated: !keys.disable_aggregation });
  if (!context.json && scores.some(({ calibration }) => calibration !== null)) {
    context.out("");
    printCorrected(scores, context);
  }
  printHealth(health, context);
  printTracked(tracked, context);
  const { came, expected } = completion(evaluation);
  if (keys.require_complete && came < expected) {
    context.err(
      `EVAL FAILED: ${came}/${expected} samples completed. Partial artifacts retained at ${relativePath(context, options.output)}.`,
    );
    return exitCode || 1;
  }
  if (exitCode !== 0) return exitCode;
  const missed = [...missedThresholds, ...(corrected?.unmet ?? [])];
  for (const sentence of missed) context.err(sentence);
  return missed.length > 0 ? THRESHOLD_MISSED : 0;
}

/** Rejects invalid keys before any row is read. */
function checkKeys(keys: Keys): void {
  const { num_repeats: repeats, responses_create_params: params } = keys;
  if (keys.interleave_repeats && keys.repeat_order === "depth")
    throw new UsageError("--interleave-repeats and --repeat-order depth cannot be combined");
  if (keys.retry_failed && !keys.resume_from_cache)
    throw new UsageError("--retry-failed is only allowed with --resume");
  const kind = repeats === null || repeats === undefined ? "number" : typeof repeats;
  if (kind !== "number" && (kind !== "object" || Array.isArray(repeats)))
    throw new CommandKeysError(
      "invalid configuration: num_repeats (must be a whole number of at least 1, or a map from agents to such numbers).",
    );
  try {
    new Repeats(repeats as RepeatsSetting);
  } catch (error) {
    throw error instanceof RolloutError
      ? new CommandKeysError(`invalid configuration: ${error.message}`)
      : error;
  }
  checkSampling(params);
  checkThresholds(keys);
  healthSetting(keys);
}

const CAPTURE_KEYS = ["observability_enabled", "model_call_capture_dir", "token_id_capture"];

/** The capture settings: those of this command, else those of the running servers. */
async function captureKeys(
  config: ResolvedConfig,
  url: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const own = config.toObject();
  if (CAPTURE_KEYS.some((key) => own[key] !== undefined)) return own;
  const theirs = await runningConfig(url, signal);
  return { ...own, ...Object.fromEntries(CAPTURE_KEYS.map((key) => [key, theirs[key]])) };
}

async function configuredDriver(
  { roots }: CommandContext,
  reference: string | undefined,
): Promise<RolloutDriver | undefined> {
  if (reference === undefined) return undefined;
  const { loadRolloutDriver } = await import("../../run/light-door.ts");
  return loadRolloutDriver(reference, roots);
}
