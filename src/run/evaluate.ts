import path from "node:path";
import { errorMessage } from "../base/errors.ts";
import { isObject } from "../base/python/json/door.ts";
import type { Telemetry } from "../base/telemetry/door.ts";
import { errorType } from "../base/telemetry/light-door.ts";
import type { ResolvedConfig } from "../config/door.ts";
import { environmentsOf } from "../config/door.ts";
import { aliasedInstance } from "../config/light-door.ts";
import { findPath, installRoot as packageRoot, searchRoots } from "../config/paths.ts";
import { loadPromptConfig, needsConversion } from "../data/light-door.ts";
import { RolloutError } from "../records/errors.ts";
import { artifactPaths, assertRegularFile, type Row } from "../records/files/door.ts";
import type { HealthReport } from "../records/results/light-door.ts";
import type { RunClient } from "../servers/calls/door.ts";
import type { CostMeter } from "../servers/model-endpoint/door.ts";
import { type Cohort, findCohorts } from "./cohorts.ts";
import type { CollectLimits } from "./collect/collect-contract.ts";
import { LocalExecutor } from "./collect/local-executor.ts";
import { RolloutTraces } from "./collect/trace-rollouts.ts";
import { zeroSetting } from "./count-as-zero.ts";
import type { QueueOptions } from "./distributed/queue-options.ts";
import { rejectOtherFiles } from "./earlier-results.ts";
import {
  agentNames,
  citingSource,
  datasetFiles,
  preprocessedDirectory,
  type RunInput,
  runInput,
} from "./evaluation-input.ts";
import { gymVersion } from "./gym-version.ts";
import { checkAfterRun } from "./health-after-run.ts";
import type { ExpandOptions, RepeatOrder } from "./inputs/expand.ts";
import { agentOfSource, readFanOut, readRouting } from "./inputs/route.ts";
import type { RowSelection } from "./inputs/select-rows.ts";
import { loadSkills } from "./inputs/skills.ts";
import { readTextOverrides } from "./inputs/text-overrides.ts";
import { showingLive } from "./live-run.ts";
import type { EvaluationOptions, EvaluationServers } from "./options.ts";
import { checkModelEndpoints } from "./preflight.ts";
import { assertNotOverwriting } from "./resume/prepare-run.ts";
import { maxAttemptsFrom } from "./resume/resume.ts";
import type { RolloutDriver } from "./rollout-driver.ts";
import { type Evaluation, Run, type RunPlan } from "./run.ts";
import { type ResolvedRun, type RunConfig, resolveRun } from "./run-config.ts";
import type { RunEvent } from "./run-events.ts";
import { runSettings } from "./settings.ts";
import { openTelemetry, startResolved } from "./start-servers.ts";
import { missedThresholds } from "./thresholds.ts";
import { type RunTracking, startTracking, type TrackedRun, uploadsRollouts } from "./tracking.ts";
import { openCaptures } from "./trajectory/open-captures.ts";

/** Default for the number of rollouts that the broker and its workers hold at the same time. */
const QUEUED_AT_ONCE = 100_000;

/** The options of one evaluation with its config and defaults. */
interface Setting extends ResolvedRun {
  options: EvaluationOptions;
  output: string;
  roots: readonly string[];
  installRoot: string;
  /** Names of the available agents. */
  agents: readonly string[];
  /** Directory of relative paths. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  emit: (event: RunEvent) => void;
  notice: (text: string) => void;
  telemetry: Telemetry | undefined;
  /** Records a trace of each rollout. */
  traces: RolloutTraces | undefined;
  /** Either signal of the options. Both stop the work before the first rollout. */
  stopping: AbortSignal | undefined;
}

/** An evaluation with everything that follows the metrics. */
export interface FinishedEvaluation extends Evaluation {
  health: HealthReport | undefined;
  tracked: readonly TrackedRun[];
  missedThresholds: readonly string[];
}

/** Runs one evaluation from config to result, checks its health and sends it to the tracking services of the config. */
export function evaluate(
  given: RunConfig,
  output: string,
  options: EvaluationOptions,
  emit: (event: RunEvent) => void,
): Promise<FinishedEvaluation> {
  return showingLive(emit, async (emit) => {
    const run = await resolveRun(given);
    const notice = (text: string) => emit({ type: "notice", text });
    const { cwd = process.cwd(), env = process.env, signal } = options;
    let tracking: RunTracking | undefined;
    const evaluation = await collected(run, output, options, (event) => {
      if (event.type === "started")
        tracking = startTracking(run.config, { cwd, env, signal, onWarning: notice });
      emit(event);
    });
    const { paths, summary } = evaluation;
    const { aggregate = true, healthCheck = {} } = options;
    const health = aggregate
      ? await checkAfterRun(paths.output, healthCheck, { onNotice: notice, signal: eitherSignal(options) })
      : undefined;
    if (health) emit({ type: "health", report: health });
    const upload = tracking && uploadsRollouts(run.config, options.uploadRollouts ?? false, notice);
    const tracked = await tracking?.finish({ summary, rollouts: upload ? paths : undefined });
    const missed = missedThresholds(summary, options);
    return { ...evaluation, health, tracked: tracked ?? [], missedThresholds: missed };
  });
}

/**
 * Collects and scores the rollouts. Detects every error that does not need servers before one starts; the servers check
 * the rows.
 */
async function collected(
  run: ResolvedRun,
  output: string,
  options: EvaluationOptions,
  emit: (event: RunEvent) => void,
): Promise<Evaluation> {
  const { installRoot = packageRoot(), env = process.env, cwd = process.cwd() } = options;
  const { roots = searchRoots({ installRoot, env: { ...env } }) } = options;
  const paths = artifactPaths(output);
  await assertRegularFile(output);
  await assertNotOverwriting("a dataset of the config", datasetFiles(run.config, roots), paths);
  if (!options.resume) await rejectOtherFiles(paths);
  const agents = options.servers?.agents ?? agentNames(run.config);
  const notice = (text: string) => emit({ type: "notice", text });
  const telemetry = openTelemetry(run.config.toObject(), installRoot, notice, env);
  const job = telemetry?.tracer.start("job", "gym.job");
  const setting: Setting = {
    ...run,
    telemetry,
    traces: telemetry && new RolloutTraces(telemetry.tracer, job),
    options,
    output,
    roots,
    installRoot,
    agents,
    cwd,
    env,
    emit,
    notice,
    stopping: eitherSignal(options),
  };
  try {
    return await collectedFrom(setting);
  } catch (error) {
    job?.fail(errorType(error), errorMessage(error));
    throw error;
  } finally {
    job?.end();
    await telemetry?.close();
  }
}

async function collectedFrom(setting: Setting): Promise<Evaluation> {
  const { config, definitions, options, output, roots, agents } = setting;
  const { agent } = options;
  const only = agent && currentName(agent, agents);
  const input = await chosenInput(setting);
  const hasPrompt = options.promptConfig !== undefined;
  const isForeign = typeof input === "string" && (await needsConversion(input, { roots, hasPrompt }));
  const whole = isForeign
    ? await foreignInput(input, setting)
    : await runInput(config, { input, agent: only, output, roots });
  const source = options.select === undefined ? whole : await selectedInput(whole, options.select, setting);
  try {
    const cohorts = await findCohorts(config, definitions, setting);
    const repeatOrder = options.repeatOrder ?? usualOrder(setting, cohorts.size > 0);
    const opened = await open({ ...setting, options: { ...options, repeatOrder } }, source.path, cohorts);
    try {
      await opened.checkCohorts(cohorts, {
        queue: options.queue !== undefined,
        concurrency: options.concurrency || null,
        repeatOrder,
      });
      if (options.queue) return await withWorkers(setting, options.queue, opened);
      return await (options.servers
        ? collect(setting, opened, options.servers)
        : withOwnServers(setting, opened));
    } finally {
      await opened.close();
    }
  } catch (error) {
    throw citingSource(error, source);
  }
}

/** A run that a limit may end covers all tasks a few times, not a few tasks. Cohorts need the repeats of a task together. */
function usualOrder({ config, options }: Setting, hasCohorts: boolean): RepeatOrder {
  const isLimited = (config.get("max_cost") ?? options.runTimeoutSeconds ?? null) !== null;
  return isLimited && !hasCohorts ? "breadth" : "depth";
}

/** Writes the selected rows next to the output. Messages still name the lines of the input. */
async function selectedInput(
  whole: RunInput,
  selection: RowSelection,
  { output, stopping }: Setting,
): Promise<RunInput> {
  const { selectRows } = await import("./inputs/select-rows.ts");
  const { path, lineOf } = await selectRows(
    whole.path,
    selection,
    preprocessedDirectory(output),
    stopping,
  ).catch((error: unknown) => {
    throw citingSource(error, whole);
  });
  const named =
    whole.sourceOf ?? ((line?: number) => (line === undefined ? whole.path : `${whole.path}:${line}`));
  return { path, sourceOf: (line) => named(line === undefined ? undefined : lineOf(line)) };
}

/** Rows of another format, or of the hub, as a file of rows. */
async function foreignInput(name: string, setting: Setting): Promise<RunInput> {
  const { options, config, output, roots, env, stopping, emit, notice } = setting;
  const { convertedInput } = await import("./converted-input.ts");
  return convertedInput(name, {
    output,
    roots,
    env,
    get: (key) => config.get(key),
    resume: options.resume ?? false,
    hasPrompt: options.promptConfig !== undefined,
    signal: stopping,
    onStatus: (text) => emit({ type: "status", text }),
    onNotice: notice,
  });
}

/** The rows that the options name; undefined: the example data. */
async function chosenInput(setting: Setting): Promise<EvaluationOptions["input"]> {
  const { options, config, output, cwd, roots, env, stopping, emit, notice } = setting;
  const { split, reusePreparedData = false, mayPrepare = () => true } = options;
  if (split === undefined) return options.input;
  const onStatus = (text: string) => emit({ type: "status", text });
  const places = { output, cwd, roots, env, signal: stopping, mayPrepare };
  const { splitFile } = await import("./split-input.ts");
  return splitFile(config, { ...places, split, reuse: reusePreparedData, onStatus, onNotice: notice });
}

async function withOwnServers(setting: Setting, opened: Run): Promise<Evaluation> {
  const { config, definitions, options, roots, installRoot, emit, notice, stopping, telemetry } = setting;
  const { ownsProcess, output } = options;
  let meter: CostMeter | undefined;
  emit({ type: "status", text: `starting ${config.servers.length} servers` });
  const servers = await startResolved(config, definitions, {
    roots,
    installRoot,
    head: false,
    onMeter: (given) => {
      meter = given;
      countEarlier(given, opened.spentEarlier, notice);
    },
    onEvent: (event) => emit({ type: "server", event }),
    signal: stopping,
    telemetry,
    ownsProcess,
    logDirectory: output === undefined ? undefined : path.join(path.dirname(output), "logs"),
  });
  try {
    await checkModelEndpoints(config, {
      signal: stopping ?? new AbortController().signal,
      onNotice: notice,
      brief: true,
    });
    const { client, crashed } = servers;
    const done = collect(setting, opened, { client, agents: [] }, () => meter?.spent ?? 0);
    return await Promise.race([done, crashed]);
  } finally {
    await servers.close();
  }
}

/** Runs rollouts in workers. Servers start in this process only if metrics need them. */
async function withWorkers(setting: Setting, queue: QueueOptions, opened: Run): Promise<Evaluation> {
  const { collectWithWorkers } = await import("./distributed/collect-with-workers.ts");
  const { config, agents, roots, installRoot, options, traces } = setting;
  const { drain, signal } = options;
  return collectWithWorkers(opened, {
    ...{ queue, config, agents, roots, installRoot },
    ...{ traces, drain, signal },
  });
}

/** A resumed run has one budget, not one per setting. */
function countEarlier(meter: CostMeter, spent: number, notice: (text: string) => void): void {
  if (spent === 0) return;
  meter.add(spent);
  if (meter.limit !== null)
    notice(
      `Earlier sessions of this run have spent $${spent.toFixed(4)} of its max_cost of $${meter.limit}.`,
    );
}

async function open(setting: Setting, inputPath: string, cohorts: ReadonlyMap<string, Cohort>): Promise<Run> {
  const { config, options, output, installRoot, emit, notice } = setting;
  const { rolloutTimeoutSeconds = runSettings.rolloutTimeoutSeconds.default, runTimeoutSeconds = null } =
    options;
  const { env } = setting;
  const expand = await expandOptions(setting, inputPath);
  const { resume, force, aggregate, fsync, drain, signal } = options;
  const { images = runSettings.images.default } = options;
  const { retryFailed, retryTerminalTimeouts, retryInvalidJudge, longestFirst } = options;
  const plan: RunPlan = {
    resume,
    force,
    retryFailed,
    retryTerminalTimeouts,
    retryInvalidJudge,
    longestFirst,
    aggregate,
    fsync,
    images,
    output,
    expand,
    zeros: zeroSetting(options),
    limits: {
      concurrency: options.concurrency || (options.queue ? QUEUED_AT_ONCE : null),
      largestConcurrency: options.maxResident,
      dispatch: dispatchLimits(options),
      endsAtFailure: options.routeFailures === false,
      cohorts: new Map([...cohorts].map(([agent, { size }]) => [agent, size])),
      maxAttempts: options.maxAttempts ?? maxAttemptsFrom(env["NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"], notice),
      rolloutTimeoutMs: inMilliseconds(rolloutTimeoutSeconds),
      runTimeoutMs: inMilliseconds(runTimeoutSeconds),
    },
    config: decidingConfig(config, expand),
    gymVersion: gymVersion(installRoot),
  };
  return Run.open(plan, { onEvent: emit, drain, signal });
}

function dispatchLimits(options: EvaluationOptions): CollectLimits["dispatch"] {
  const { dispatchBudgetSeconds: budget, drainMarginSeconds: margin = null } = options;
  if (budget === undefined) return null;
  if (!options.concurrency)
    throw new RolloutError(
      "ROLLOUT_SETTINGS",
      "dispatch_budget_s needs num_samples_in_parallel (--concurrency): without it all rollouts may start at once.",
    );
  return { budgetMs: budget * 1000, marginMs: inMilliseconds(margin) };
}

/** How the rows of a file become rollouts. */
export async function expandOptions(
  setting: Pick<Setting, "config" | "options" | "roots" | "agents" | "notice" | "stopping">,
  inputPath: string,
): Promise<ExpandOptions> {
  const { config, options, roots, agents } = setting;
  const {
    agent,
    promptConfig,
    skills,
    params,
    limit = null,
    repeats,
    repeatOrder,
    addSeed = false,
  } = options;
  const agentMap = config.get("agent_map");
  const find = (file: string) => findPath(file, roots);
  return {
    inputPath,
    agentName: (agent && currentName(agent, agents)) ?? (agents.length === 1 ? agents[0] : null) ?? null,
    routing: readRouting(config, environmentsOf(config.servers)),
    agentMap: isObject(agentMap) ? (agentMap as Record<string, string>) : undefined,
    fanOut: readFanOut(config.get("fan_out")),
    agentOfSource: (source) => agentOfSource(source, config.servers),
    knownAgents: agents,
    renamedAgent: (name) => aliasedInstance(name, new Set(agents)),
    limit,
    repeats,
    repeatOrder,
    addSeed,
    promptConfig: promptConfig === undefined ? undefined : await loadPromptConfig(find(promptConfig)),
    skills: skills === undefined ? undefined : await loadSkills(find(skills), skills),
    overrides: params,
    textOverrides: readTextOverrides(options.textOverrides ?? config.get("text_overrides")),
    onWarning: setting.notice,
    signal: setting.stopping,
  };
}

async function collect(
  setting: Setting,
  opened: Run,
  { client, refreshAddresses }: EvaluationServers,
  spent?: () => number,
): Promise<Evaluation> {
  const { config, options, roots, notice, traces } = setting;
  const captures = await openCaptures({
    config: options.captureConfig ?? config.toObject(),
    agentConfig: (agent) => config.servers.find(({ name }) => name === agent)?.config,
    findFile: (file) => findPath(file, roots),
    onNotice: notice,
  });
  if (options.checkRows !== false) await opened.check(client);
  await opened.begin();
  const environments = environmentsOf(config.servers);
  const executor = new LocalExecutor({ client, captures, refreshAddresses, environments, traces });
  const servers = options.servers === undefined ? "own" : "elsewhere";
  const loop = () => opened.execute({ executor, client, captures, spent, servers });
  return options.driver === undefined ? loop() : drive(options.driver, setting, opened, client, loop);
}

/** Runs the driver and returns the result of the built-in loop. A driver that never calls the loop is an error. */
async function drive(
  driver: RolloutDriver,
  { config, options }: Setting,
  { paths }: Run,
  client: RunClient,
  loop: () => Promise<Evaluation>,
): Promise<Evaluation> {
  let evaluation: Evaluation | undefined;
  const collect = async () => {
    evaluation = await loop();
    return evaluation;
  };
  const signal = options.drain ?? options.signal ?? new AbortController().signal;
  await driver(options.driverSettings ?? {}, config.toObject(), { collect, client, paths, signal });
  if (evaluation === undefined)
    throw new RolloutError(
      "ROLLOUT_DRIVER",
      "The rollout driver ended without collecting: it never called collect().",
    );
  return evaluation;
}

/** A signal that fires with either signal of the options. */
export function eitherSignal({
  signal,
  drain,
}: {
  signal?: AbortSignal;
  drain?: AbortSignal;
}): AbortSignal | undefined {
  return signal && drain ? AbortSignal.any([signal, drain]) : (signal ?? drain);
}

function inMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

/** The agent with this name, or the one that has replaced it. */
function currentName(agent: string, agents: readonly string[]): string {
  return agents.includes(agent) ? agent : (aliasedInstance(agent, new Set(agents)) ?? agent);
}

/** The part of the config that affects the results. */
export function decidingConfig(config: ResolvedConfig, expand: ExpandOptions): Row {
  const { agentName, limit, repeats, addSeed, overrides, textOverrides, promptConfig, skills, routing } =
    expand;
  return {
    servers: serverSettings(config),
    collection: {
      agent_name: agentName,
      limit,
      num_repeats: repeats ?? null,
      num_repeats_add_seed: addSeed,
      responses_create_params: overrides ?? null,
      prompt_config: promptConfig?.path ?? null,
      ...(skills && { skills: { path: skills.path, hash: skills.hash } }),
      ...(textOverrides && { text_overrides: textOverrides }),
      ...(routing &&
        routing.mode !== "agent" && {
          routing: { mode: routing.mode, server: routing.server ?? null, routes: routing.routes },
        }),
    },
  };
}

/** The settings of the servers by name, without their addresses. */
export function serverSettings({ servers }: Pick<ResolvedConfig, "servers">): Row {
  return Object.fromEntries(
    servers.map(({ name, type, implementation, config: block }) => {
      const { host: _host, port: _port, ...rest } = block;
      return [name, { type, implementation, ...rest }];
    }),
  );
}
