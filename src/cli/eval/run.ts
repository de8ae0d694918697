import path from "node:path";
import { getCloseMatches } from "../../base/python/difflib.ts";
import { outputPath } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { RolloutError } from "../../records/errors.ts";
import { headUrl, runningConfig, runningServers } from "../../run/head.ts";
import { Repeats, type RepeatsSetting } from "../../run/inputs/repeats.ts";
import type { EvaluationOptions } from "../../run/options.ts";
import type { RolloutDriver } from "../../run/rollout-driver.ts";
import { runEvaluation } from "../../run/run-evaluation.ts";
import { RunClient } from "../../servers/calls/run-client.ts";
import { readWith } from "../../wire/schemas/readers.ts";
import { CREATE_PARAM_KEYS, readCreateParams } from "../../wire/schemas/responses.ts";
import { ValidationError } from "../../wire/schemas/validation.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { refuseUnusedModelUrl } from "../env/model-flags.ts";
import { CommandKeysError, UsageError } from "../errors.ts";
import { brokerOf } from "../queue/broker-settings.ts";
import { needsOf, queuedRunKeys, weightsOf } from "../queue/keys.ts";
import { healthJsonEvent, healthSetting, printHealth } from "./health-check.ts";
import { collectionKeys, servingKeys } from "./keys.ts";
import { exitCodeOf, printReport, printTracked } from "./report.ts";
import { dropEmptyDirectory, dropRefusedRun, newOutput } from "./run-files.ts";
import { createRunView, followRun, type RunView } from "./run-view.ts";
import { checkThresholds, THRESHOLD_MISSED } from "./thresholds.ts";

const NEARNESS = 0.85;

/** Fields that replace those of every row: an invalid one would fail every rollout, so it is refused first. */
function checkSampling(overrides: Readonly<Record<string, unknown>> | undefined): void {
  for (const name of Object.keys(overrides ?? {})) {
    const [nearest] = CREATE_PARAM_KEYS.includes(name)
      ? []
      : getCloseMatches(name, CREATE_PARAM_KEYS, 1, NEARNESS);
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

/** Runs `gym eval run`, with its own servers or with running ones. */
export async function evalRun(context: CommandContext): Promise<number> {
  return context.flags["no-serve"] ? againstRunningServers(context) : withOwnServers(context);
}

async function withOwnServers(context: CommandContext): Promise<number> {
  const { io } = context;
  const config = await context.resolve({ requireServers: true });
  refuseUnusedModelUrl(context.flags, config);
  const keys = readKeys({ ...collectionKeys, ...servingKeys }, config);
  checkKeys(keys);
  const { input_jsonl_fpath: input, reuse_existing_data_preparation: reusePreparedData } = keys;
  const isBenchmark = context.flags["benchmark"] !== undefined && input === undefined;
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
    const own = evaluationOptions(context, config, keys);
    const options = { ...own, output, input, split, reusePreparedData, driver, queue, ownsProcess: true };
    return await evaluate(context, config, options, keys, view);
  } catch (error) {
    if (given === undefined && error instanceof RolloutError && error.code === "ROLLOUT_ROWS_REFUSED")
      await dropRefusedRun(output);
    throw error;
  } finally {
    view.close();
    if (given === undefined) await dropEmptyDirectory(output);
  }
}

/** The queue options; undefined if this process runs the rollouts. */
function queueOf({ env, io }: CommandContext, config: ResolvedConfig): EvaluationOptions["queue"] {
  const keys = readKeys(queuedRunKeys, config);
  const { queue_store_dir: directory } = keys;
  if (keys.queue_url === undefined) {
    if (directory !== undefined)
      throw new UsageError("`--store` is for runs with workers: add `--queue URL`.");
    return undefined;
  }
  return {
    broker: brokerOf(keys, env),
    leaseSeconds: keys.queue_lease_seconds,
    maxDeliver: keys.queue_max_deliver,
    outageSeconds: keys.queue_outage_seconds,
    storeHost: keys.queue_store_host,
    storePort: keys.queue_store_port,
    storeDirectory: directory === undefined ? undefined : path.resolve(io.cwd, directory),
    weights: weightsOf(keys.queue_weights),
    needs: needsOf(keys.queue_needs),
  };
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
  const findAgain = async (signal: AbortSignal) => {
    for (const { process_name: name, url } of await runningServers(headUrl(config), signal))
      if (addresses.has(name)) addresses.set(name, url);
  };
  const view = createRunView(context);
  try {
    const options = {
      ...evaluationOptions(context, config, keys),
      output,
      input: keys.input_jsonl_fpath,
      servers: { client, agents, findAgain },
      captureConfig: await captureKeys(config, headUrl(config), context.signal),
    };
    return await evaluate(context, config, options, keys, view);
  } finally {
    view.close();
    await client.close();
  }
}

type Keys = KeyValues<typeof collectionKeys>;

/** The options of the run from flags and keys. */
function evaluationOptions(context: CommandContext, config: ResolvedConfig, keys: Keys): EvaluationOptions {
  const { io, env, installRoot, signal } = context;
  const skillsPath = keys.skills?.["path"];
  return {
    agent: keys.agent_name,
    limit: keys.limit,
    repeats: keys.num_repeats as RepeatsSetting,
    addSeed: keys.num_repeats_add_seed,
    concurrency: keys.num_samples_in_parallel,
    rolloutTimeoutSeconds:
      config.get("rollout_timeout_seconds") === null ? null : keys.rollout_timeout_seconds,
    runTimeoutSeconds: keys.run_timeout_seconds,
    params: keys.responses_create_params,
    promptConfig: keys.prompt_config,
    skills: typeof skillsPath === "string" ? skillsPath : undefined,
    resume: keys.resume_from_cache,
    force: Boolean(context.flags["force"]),
    retryFailed: keys.retry_failed,
    aggregate: !keys.disable_aggregation,
    healthCheck: healthSetting(keys),
    uploadRollouts: keys.upload_rollouts,
    failUnder: keys.fail_under,
    minCoverage: keys.min_coverage,
    checkRows: keys.check_rows,
    fsync: keys.fsync,
    drain: signal,
    signal: io.stopSignal,
    driverSettings: keys,
    roots: context.roots,
    installRoot,
    cwd: io.cwd,
    env,
  };
}

async function evaluate(
  context: CommandContext,
  config: ResolvedConfig,
  options: EvaluationOptions & { output: string },
  keys: Keys,
  view: RunView,
): Promise<number> {
  const evaluation = await followRun(runEvaluation(config, options), view);
  view.close();
  const { health, tracked, missedThresholds } = evaluation;
  if (health && context.json) context.out(JSON.stringify(healthJsonEvent(health)));
  printReport(evaluation, context, { aggregated: !keys.disable_aggregation });
  printHealth(health, context);
  printTracked(tracked, context);
  const exitCode = exitCodeOf(evaluation, context);
  if (exitCode !== 0) return exitCode;
  for (const sentence of missedThresholds) context.err(sentence);
  return missedThresholds.length > 0 ? THRESHOLD_MISSED : 0;
}

/** Refuses invalid keys before any row is read. */
function checkKeys(keys: Keys): void {
  const { num_repeats: repeats, responses_create_params: params } = keys;
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
  const { loadRolloutDriver } = await import("../../run/rollout-driver.ts");
  return loadRolloutDriver(reference, roots);
}
