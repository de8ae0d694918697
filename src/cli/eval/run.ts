import path from "node:path";
import { RunClient } from "../../calls/run-client.ts";
import { findPath, searchRoots } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import type { RunningServers } from "../../hosting/processes/run-servers.ts";
import type { CostMeter } from "../../model-endpoint/cost.ts";
import { RolloutError } from "../../rollouts/errors.ts";
import { artifactPaths } from "../../rollouts/files/artifact-paths.ts";
import { refuseOtherFiles } from "../../rollouts/files/earlier-results.ts";
import { refuseNonFile } from "../../rollouts/files/output-place.ts";
import type { ExpandOptions } from "../../rollouts/inputs/expand.ts";
import { loadPromptConfig } from "../../rollouts/inputs/prompt-config.ts";
import { Repeats, type RepeatsSetting } from "../../rollouts/inputs/repeats.ts";
import { loadSkills } from "../../rollouts/inputs/skills.ts";
import { refuseOverwriting } from "../../rollouts/resume/prepare-run.ts";
import { maxAttemptsFrom } from "../../rollouts/resume/resume.ts";
import type { RolloutCaptures } from "../../rollouts/trajectory/captures.ts";
import { openCaptures } from "../../rollouts/trajectory/open-captures.ts";
import { type Evaluation, PreparedEvaluation } from "../../run/evaluate.ts";
import type { RolloutDriver } from "../../run/rollout-driver.ts";
import { startFromConfig } from "../../run/start-from-config.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { headUrl, runningConfig, runningServers } from "../env/head.ts";
import { refuseUnusedModelUrl } from "../env/model-flags.ts";
import { CommandKeysError } from "../usage-error.ts";
import { gymVersion } from "../version.ts";
import { openControl } from "./control.ts";
import { startExport, uploadsRollouts } from "./exporting.ts";
import { chooseInput } from "./input.ts";
import { collectionKeys, servingKeys } from "./keys.ts";
import { dropEmptyDirectory, newOutput } from "./new-output.ts";
import { exitCodeOf, printReport } from "./report.ts";
import { createRunView, type RunView } from "./run-view.ts";
import { checkSampling } from "./sampling-check.ts";

/** Runs `gym eval run` in both forms. */
export async function runEvaluation(context: CommandContext): Promise<number> {
  return context.flags["no-serve"] ? againstRunningServers(context) : withOwnServers(context);
}

async function withOwnServers(context: CommandContext): Promise<number> {
  const { io, env, installRoot, signal } = context;
  const config = await context.resolve({ requireServers: true });
  refuseUnusedModelUrl(context.flags, config);
  const keys = readKeys({ ...collectionKeys, ...servingKeys }, config);
  checkRepeats(keys.num_repeats);
  checkSampling(keys.responses_create_params);
  const agents = config.servers.filter(({ type }) => type === "responses_api_agents").map(({ name }) => name);
  const given = keys.output_jsonl_fpath;
  const output =
    given === undefined
      ? await newOutput(io.cwd, keys.agent_name ?? agents[0] ?? "run", new Date())
      : path.resolve(io.cwd, given);
  await refuseNonFile(output);
  await refuseOverwriting(
    "a dataset of the config",
    chooseInput.datasets(context, config),
    artifactPaths(output),
  );
  if (!keys.resume_from_cache) await refuseOtherFiles(artifactPaths(output));
  const view = createRunView(context, artifactPaths(output));
  let servers: RunningServers | undefined;
  let prepared: PreparedEvaluation | undefined;
  let meter: CostMeter | undefined;
  const spent = () => meter?.spent ?? 0;
  try {
    const input = await chooseInput(context, config, { ...keys, output }, view);
    const driver = await configuredDriver(context, keys.rollout_collection_driver);
    const run = { context, config, keys, output, input, agents, view, driver };
    // Whatever can be refused is refused before a server starts.
    prepared = await prepare(run);
    view.status(`starting ${config.servers.length} servers`);
    servers = await startFromConfig(config, {
      roots: searchRoots({ cwd: io.cwd, env, installRoot }),
      installRoot,
      signal,
      head: false,
      ownsProcess: true,
      onMeter: (given) => {
        meter = given;
        countEarlier(given, prepared?.spentEarlier ?? 0, view);
      },
      logDirectory: path.join(path.dirname(output), "logs"),
      onEvent: (event) => view.serverEvent(event),
    });
    const { checkModelEndpoints } = await import("../env/preflight.ts");
    await checkModelEndpoints(config, { signal, onNotice: (text) => view.notice(text), brief: true });
    return await evaluateWith({ ...run, prepared, client: servers.client, crashed: servers.crashed, spent });
  } finally {
    view.close();
    await prepared?.close();
    await servers?.close();
    if (given === undefined && prepared === undefined) await dropEmptyDirectory(output);
  }
}

/** A run that goes on has one budget, not one per session. */
function countEarlier(meter: CostMeter, spent: number, view: RunView): void {
  if (spent === 0) return;
  meter.add(spent);
  if (meter.limit !== null)
    view.notice(
      `Earlier sessions of this run have spent $${spent.toFixed(4)} of its max_cost of $${meter.limit}.`,
    );
}

async function againstRunningServers(context: CommandContext): Promise<number> {
  const config = await context.resolve({ noModel: true, offline: true });
  const keys = readKeys(
    {
      ...collectionKeys,
      input_jsonl_fpath: { ...collectionKeys.input_jsonl_fpath, required: true },
      output_jsonl_fpath: { ...collectionKeys.output_jsonl_fpath, required: true },
    },
    config,
  );
  checkRepeats(keys.num_repeats);
  checkSampling(keys.responses_create_params);
  const output = path.resolve(context.io.cwd, keys.output_jsonl_fpath);
  await refuseNonFile(output);
  const input = {
    inputPath: await chooseInput.existing(context, keys.input_jsonl_fpath),
    agentName: keys.agent_name,
  };
  const servers = await runningServers(headUrl(config), context.signal);
  const agents = servers
    .filter((server) => server.server_type === "responses_api_agents")
    .map((server) => server.process_name);
  const view = createRunView(context, artifactPaths(output));
  const addresses = new Map(servers.map((server) => [server.process_name, server.url]));
  const client = new RunClient({ addresses });
  const findAgain = async (signal: AbortSignal) => {
    for (const { process_name: name, url } of await runningServers(headUrl(config), signal))
      if (addresses.has(name)) addresses.set(name, url);
  };
  let prepared: PreparedEvaluation | undefined;
  try {
    const captureConfig = await captureKeys(config, headUrl(config), context.signal);
    const run = { context, config, captureConfig, keys, output, input, agents, view };
    prepared = await prepare(run);
    return await evaluateWith({ ...run, prepared, client, findAgain });
  } finally {
    view.close();
    await prepared?.close();
    await client.close();
  }
}

/** What no row can change is looked at before any row is. */
function checkRepeats(repeats: unknown): void {
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
}

const CAPTURE_KEYS = ["observability_enabled", "model_call_capture_dir", "token_id_capture"];

/** What is recorded: as this command is told, else as the running servers were. */
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

type Keys = ReturnType<typeof readKeys<typeof collectionKeys>>;

interface Run {
  context: CommandContext;
  config: ResolvedConfig;
  captureConfig?: Record<string, unknown>;
  keys: Keys;
  output: string;
  input: { inputPath: string; agentName?: string | undefined };
  agents: readonly string[];
  view: RunView;
  /** Collects instead of the built-in loop. */
  driver?: RolloutDriver | undefined;
}

async function configuredDriver(
  { io, env, installRoot }: CommandContext,
  reference: string | undefined,
): Promise<RolloutDriver | undefined> {
  if (reference === undefined) return undefined;
  const { loadRolloutDriver } = await import("../../run/rollout-driver.ts");
  return loadRolloutDriver(reference, searchRoots({ cwd: io.cwd, env, installRoot }));
}

async function prepare(run: Run): Promise<PreparedEvaluation> {
  const { context, config, keys, output, view } = run;
  const expand = await expandOptions(run);
  return PreparedEvaluation.open({
    output,
    expand,
    limits: {
      concurrency: keys.num_samples_in_parallel ?? null,
      maxAttempts: maxAttemptsFrom(context.env["NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"], (text) => view.notice(text)),
      rolloutTimeoutMs:
        config.get("rollout_timeout_seconds") === null ? null : keys.rollout_timeout_seconds * 1000,
      runTimeoutMs: keys.run_timeout_seconds === undefined ? null : keys.run_timeout_seconds * 1000,
    },
    config: decidingConfig(config, expand),
    gymVersion: gymVersion(context.installRoot),
    resume: keys.resume_from_cache,
    force: Boolean(context.flags["force"]),
    drain: context.signal,
    ...(context.io.stopSignal && { stop: context.io.stopSignal }),
    onEvent: (event) => {
      if (event.type === "started") openControl(event.collection, output, view);
      view.evaluationEvent(event);
    },
  });
}

/** Lets the driver collect; what the built-in loop gave it is reported, else it must have written the results itself. */
async function drive(
  driver: RolloutDriver,
  { context, config, keys, prepared, client }: Run & { prepared: PreparedEvaluation; client: RunClient },
  loop: () => Promise<Evaluation>,
): Promise<Evaluation> {
  let evaluation: Evaluation | undefined;
  const collect = async () => {
    evaluation = await loop();
    return evaluation;
  };
  const { paths } = prepared;
  await driver(keys, config.toObject(), { collect, client, paths, signal: context.signal });
  if (evaluation === undefined)
    throw new RolloutError(
      "ROLLOUT_DRIVER",
      "The rollout driver ended without collecting: it never called collect().",
    );
  return evaluation;
}

async function evaluateWith(
  run: Run & {
    prepared: PreparedEvaluation;
    client: RunClient;
    crashed?: Promise<never>;
    findAgain?: (signal: AbortSignal) => Promise<void>;
    spent?: () => number;
  },
): Promise<number> {
  const { context, config, keys, client, view, findAgain, spent } = run;
  const exporting = startExport(context, config, (text) => view.notice(text));
  const captures = await capturesOf(run);
  await run.prepared.begin();
  const collect = () =>
    run.prepared.run({
      client,
      aggregate: !keys.disable_aggregation,
      fsync: keys.fsync,
      captures,
      findAgain,
      spent,
    });
  const done = run.driver === undefined ? collect() : drive(run.driver, run, collect);
  const evaluation = await (run.crashed ? Promise.race([done, run.crashed]) : done);
  view.close();
  printReport(evaluation, context, { aggregated: !keys.disable_aggregation });
  const upload = uploadsRollouts(config, keys.upload_rollouts, (text) => view.notice(text));
  const { summary, paths } = evaluation;
  await exporting?.finish({ summary, rollouts: upload ? paths : undefined });
  return exitCodeOf(evaluation, context);
}

/** What servers record beside the rows, as the config of the run says. */
function capturesOf(run: Run): Promise<RolloutCaptures | undefined> {
  const { context, config, view } = run;
  const { io, env, installRoot } = context;
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  return openCaptures({
    config: run.captureConfig ?? config.toObject(),
    agentConfig: (agent) => config.servers.find(({ name }) => name === agent)?.config,
    findFile: (file) => findPath(file, roots),
    onNotice: (text) => view.notice(text),
  });
}

async function expandOptions(run: Run): Promise<ExpandOptions> {
  const { context, keys, input, agents, view } = run;
  const { io, env, installRoot, signal } = context;
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  const skillsPath = keys.skills?.["path"];
  return {
    inputPath: input.inputPath,
    // A run with one agent needs no telling which.
    agentName: input.agentName ?? (agents.length === 1 ? agents[0] : undefined) ?? null,
    knownAgents: agents,
    limit: keys.limit ?? null,
    repeats: keys.num_repeats as RepeatsSetting,
    addSeed: keys.num_repeats_add_seed,
    ...(keys.prompt_config !== undefined && {
      promptConfig: await loadPromptConfig(findPath(keys.prompt_config, roots)),
    }),
    ...(typeof skillsPath === "string" && {
      skills: await loadSkills(findPath(skillsPath, roots), skillsPath),
    }),
    ...(keys.responses_create_params && { overrides: keys.responses_create_params }),
    onWarning: (text) => view.notice(text),
    signal,
  };
}

/** The part of the config that decides what comes out; addresses and logs do not. */
function decidingConfig(config: ResolvedConfig, expand: ExpandOptions): Record<string, unknown> {
  const servers = Object.fromEntries(
    config.servers.map(({ name, type, implementation, config: block }) => {
      const { host: _host, port: _port, ...rest } = block;
      return [name, { type, implementation, ...rest }];
    }),
  );
  const { agentName, limit, repeats, addSeed, overrides, promptConfig } = expand;
  return {
    servers,
    collection: {
      agent_name: agentName,
      limit,
      num_repeats: repeats ?? null,
      num_repeats_add_seed: addSeed,
      responses_create_params: overrides ?? null,
      prompt_config: promptConfig?.path ?? null,
    },
  };
}
