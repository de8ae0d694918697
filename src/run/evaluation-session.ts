import path from "node:path";
import type { RunClient } from "../calls/run-client.ts";
import { findPath, installRoot as packageRoot, searchRoots } from "../config/paths.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import { aliasedInstance } from "../config/servers/aliases.ts";
import type { ServerDefinition } from "../definitions/definitions.ts";
import type { RunningServers } from "../hosting/processes/run-servers.ts";
import type { CostMeter } from "../model-endpoint/cost.ts";
import { isObject } from "../python/json/json-object.ts";
import { RolloutError } from "../rollouts/errors.ts";
import { artifactPaths, refuseNonFile } from "../rollouts/files/artifact-paths.ts";
import { refuseOtherFiles } from "../rollouts/files/earlier-results.ts";
import type { Row } from "../rollouts/files/jsonl-rows.ts";
import type { ExpandOptions } from "../rollouts/inputs/expand.ts";
import { loadPromptConfig } from "../rollouts/inputs/prompt-config.ts";
import { loadSkills } from "../rollouts/inputs/skills.ts";
import { refuseOverwriting } from "../rollouts/resume/prepare-run.ts";
import { maxAttemptsFrom } from "../rollouts/resume/resume.ts";
import { openCaptures } from "../rollouts/trajectory/open-captures.ts";
import type { QueueOptions } from "./distributed/queue-options.ts";
import { type Evaluation, PreparedEvaluation } from "./evaluate.ts";
import { citingRows, datasetFiles, inputFile } from "./evaluation-input.ts";
import type { EvaluationOptions, EvaluationServers } from "./evaluation-options.ts";
import { gymVersion } from "./gym-version.ts";
import { checkModelEndpoints } from "./preflight.ts";
import type { RolloutDriver } from "./rollout-driver.ts";
import { type RunConfig, resolveRun } from "./run-config.ts";
import type { RunEvent } from "./run-events.ts";
import { startResolved } from "./start-servers.ts";

const DEFAULT_ROLLOUT_TIMEOUT_SECONDS = 7200;
/** Default for the number of rollouts that the broker and its workers hold at the same time. */
const QUEUED_AT_ONCE = 100_000;

/**
 * One evaluation from config to result. Detects every error that does not need servers before one starts; the servers
 * check the rows.
 */
export class EvaluationSession {
  readonly #given: RunConfig;
  readonly #output: string;
  readonly #options: EvaluationOptions;
  readonly #emit: (event: RunEvent) => void;
  readonly #roots: readonly string[];
  readonly #installRoot: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(given: RunConfig, output: string, options: EvaluationOptions, emit: (event: RunEvent) => void) {
    this.#given = given;
    this.#output = output;
    this.#options = options;
    this.#emit = emit;
    this.#installRoot = options.installRoot ?? packageRoot();
    this.#env = options.env ?? process.env;
    const env = { ...this.#env };
    this.#roots = options.roots ?? searchRoots({ installRoot: this.#installRoot, env });
  }

  async run(): Promise<Evaluation> {
    const { config, definitions } = await resolveRun(this.#given);
    const paths = artifactPaths(this.#output);
    await refuseNonFile(this.#output);
    await refuseOverwriting("a dataset of the config", datasetFiles(config, this.#roots), paths);
    if (!this.#options.resume) await refuseOtherFiles(paths);
    const { agent, input } = this.#options;
    const agents =
      this.#options.servers?.agents ??
      config.servers.filter(({ type }) => type === "responses_api_agents").map(({ name }) => name);
    const inputPath = await inputFile(config, {
      input,
      agent: agent && currentName(agent, agents),
      output: this.#output,
      roots: this.#roots,
    });
    try {
      return await this.#runRows(config, definitions, inputPath, agents);
    } catch (error) {
      throw typeof input === "object" ? citingRows(error, inputPath) : error;
    }
  }

  async #runRows(
    config: ResolvedConfig,
    definitions: ReadonlyMap<string, ServerDefinition>,
    inputPath: string,
    agents: readonly string[],
  ): Promise<Evaluation> {
    const prepared = await this.#prepare(config, inputPath, agents);
    try {
      if (this.#options.queue) return await this.#withWorkers(config, prepared, agents, this.#options.queue);
      return this.#options.servers
        ? await this.#collect(config, prepared, this.#options.servers)
        : await this.#withOwnServers(config, definitions, prepared);
    } finally {
      await prepared.close();
    }
  }

  async #withOwnServers(
    config: ResolvedConfig,
    definitions: ReadonlyMap<string, ServerDefinition>,
    prepared: PreparedEvaluation,
  ): Promise<Evaluation> {
    const { ownsProcess, output } = this.#options;
    const stopping = this.#stopSignal();
    let meter: CostMeter | undefined;
    this.#emit({ type: "status", text: `starting ${config.servers.length} servers` });
    const servers: RunningServers = await startResolved(config, definitions, {
      roots: this.#roots,
      installRoot: this.#installRoot,
      head: false,
      onMeter: (given) => {
        meter = given;
        this.#countEarlier(given, prepared.spentEarlier);
      },
      onEvent: (event) => this.#emit({ type: "server", event }),
      ...(stopping && { signal: stopping }),
      ...(ownsProcess && { ownsProcess }),
      ...(output !== undefined && { logDirectory: path.join(path.dirname(output), "logs") }),
    });
    try {
      await checkModelEndpoints(config, {
        signal: stopping ?? new AbortController().signal,
        onNotice: (text) => this.#notice(text),
        brief: true,
      });
      const { client, crashed } = servers;
      const done = this.#collect(config, prepared, { client, agents: [] }, () => meter?.spent ?? 0);
      return await Promise.race([done, crashed]);
    } finally {
      await servers.close();
    }
  }

  /** Runs rollouts in workers. Servers start in this process only if metrics need them. */
  async #withWorkers(
    config: ResolvedConfig,
    prepared: PreparedEvaluation,
    agents: readonly string[],
    queue: QueueOptions,
  ): Promise<Evaluation> {
    const { collectWithWorkers } = await import("./distributed/collect-with-workers.ts");
    const { aggregate, fsync, drain, signal, rolloutTimeoutSeconds } = this.#options;
    const seconds = rolloutTimeoutSeconds ?? DEFAULT_ROLLOUT_TIMEOUT_SECONDS;
    return collectWithWorkers({
      queue,
      config,
      prepared,
      agents,
      rolloutTimeoutMs: rolloutTimeoutSeconds === null ? null : seconds * 1000,
      roots: this.#roots,
      installRoot: this.#installRoot,
      onNotice: (text) => this.#notice(text),
      ...(aggregate !== undefined && { aggregate }),
      ...(fsync && { fsync }),
      ...(drain && { drain }),
      ...(signal && { stop: signal }),
    });
  }

  /** Either signal stops the work before the first rollout. */
  #stopSignal(): AbortSignal | undefined {
    const { signal, drain } = this.#options;
    return signal && drain ? AbortSignal.any([signal, drain]) : (signal ?? drain);
  }

  /** A resumed run has one budget, not one per session. */
  #countEarlier(meter: CostMeter, spent: number): void {
    if (spent === 0) return;
    meter.add(spent);
    if (meter.limit !== null)
      this.#notice(
        `Earlier sessions of this run have spent $${spent.toFixed(4)} of its max_cost of $${meter.limit}.`,
      );
  }

  async #prepare(
    config: ResolvedConfig,
    inputPath: string,
    agents: readonly string[],
  ): Promise<PreparedEvaluation> {
    const options = this.#options;
    const expand = await this.#expandOptions(config, inputPath, agents);
    const rolloutTimeout = options.rolloutTimeoutSeconds ?? DEFAULT_ROLLOUT_TIMEOUT_SECONDS;
    return PreparedEvaluation.open({
      output: this.#output,
      expand,
      limits: {
        concurrency: options.concurrency || (options.queue ? QUEUED_AT_ONCE : null),
        maxAttempts:
          options.maxAttempts ??
          maxAttemptsFrom(this.#env["NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"], (text) => this.#notice(text)),
        rolloutTimeoutMs: options.rolloutTimeoutSeconds === null ? null : rolloutTimeout * 1000,
        runTimeoutMs: options.runTimeoutSeconds === undefined ? null : options.runTimeoutSeconds * 1000,
      },
      config: decidingConfig(config, expand),
      gymVersion: gymVersion(this.#installRoot),
      resume: options.resume ?? false,
      force: options.force ?? false,
      retryFailed: options.retryFailed,
      onEvent: this.#emit,
      ...(options.drain && { drain: options.drain }),
      ...(options.signal && { stop: options.signal }),
    });
  }

  async #expandOptions(
    config: ResolvedConfig,
    inputPath: string,
    agents: readonly string[],
  ): Promise<ExpandOptions> {
    const agentMap = config.get("agent_map");
    const { agent, promptConfig, skills, params, limit, repeats, addSeed } = this.#options;
    const find = (file: string) => findPath(file, this.#roots);
    const signal = this.#stopSignal();
    return {
      inputPath,
      agentName: (agent && currentName(agent, agents)) ?? (agents.length === 1 ? agents[0] : null) ?? null,
      ...(isObject(agentMap) && { agentMap: agentMap as Record<string, string> }),
      knownAgents: agents,
      renamedAgent: (name) => aliasedInstance(name, new Set(agents)),
      limit: limit ?? null,
      repeats,
      addSeed: addSeed ?? false,
      ...(promptConfig !== undefined && { promptConfig: await loadPromptConfig(find(promptConfig)) }),
      ...(skills !== undefined && { skills: await loadSkills(find(skills), skills) }),
      ...(params && { overrides: params }),
      onWarning: (text) => this.#notice(text),
      ...(signal && { signal }),
    };
  }

  async #collect(
    config: ResolvedConfig,
    prepared: PreparedEvaluation,
    { client, findAgain }: EvaluationServers,
    spent?: () => number,
  ): Promise<Evaluation> {
    const { aggregate, fsync, driver } = this.#options;
    const captures = await openCaptures({
      config: this.#options.captureConfig ?? config.toObject(),
      agentConfig: (agent) => config.servers.find(({ name }) => name === agent)?.config,
      findFile: (file) => findPath(file, this.#roots),
      onNotice: (text) => this.#notice(text),
    });
    if (this.#options.checkRows !== false) await prepared.check(client);
    await prepared.begin();
    const collect = () =>
      prepared.run({
        client,
        captures,
        findAgain,
        spent,
        serversElsewhere: this.#options.servers !== undefined,
        ...(aggregate !== undefined && { aggregate }),
        ...(fsync && { fsync }),
      });
    return driver === undefined ? collect() : this.#drive(driver, config, prepared, client, collect);
  }

  /** Runs the driver and returns the result of the built-in loop. A driver that never calls the loop is an error. */
  async #drive(
    driver: RolloutDriver,
    config: ResolvedConfig,
    { paths }: PreparedEvaluation,
    client: RunClient,
    loop: () => Promise<Evaluation>,
  ): Promise<Evaluation> {
    let evaluation: Evaluation | undefined;
    const collect = async () => {
      evaluation = await loop();
      return evaluation;
    };
    const signal = this.#options.drain ?? this.#options.signal ?? new AbortController().signal;
    await driver(this.#options.driverSettings ?? {}, config.toObject(), { collect, client, paths, signal });
    if (evaluation === undefined)
      throw new RolloutError(
        "ROLLOUT_DRIVER",
        "The rollout driver ended without collecting: it never called collect().",
      );
    return evaluation;
  }

  #notice(text: string): void {
    this.#emit({ type: "notice", text });
  }
}

/** The agent with this name, or the one that has replaced it. */
function currentName(agent: string, agents: readonly string[]): string {
  return agents.includes(agent) ? agent : (aliasedInstance(agent, new Set(agents)) ?? agent);
}

/** The part of the config that affects the results; addresses and logs do not. */
function decidingConfig(config: ResolvedConfig, expand: ExpandOptions): Row {
  const servers = Object.fromEntries(
    config.servers.map(({ name, type, implementation, config: block }) => {
      const { host: _host, port: _port, ...rest } = block;
      return [name, { type, implementation, ...rest }];
    }),
  );
  const { agentName, limit, repeats, addSeed, overrides, promptConfig, skills } = expand;
  return {
    servers,
    collection: {
      agent_name: agentName,
      limit,
      num_repeats: repeats ?? null,
      num_repeats_add_seed: addSeed,
      responses_create_params: overrides ?? null,
      prompt_config: promptConfig?.path ?? null,
      ...(skills && { skills: { path: skills.path, hash: skills.hash } }),
    },
  };
}
