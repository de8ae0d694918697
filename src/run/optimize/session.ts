import path from "node:path";
import { isObject } from "../../base/python/json/door.ts";
import { escapeInterpolations, type ResolvedConfig, resolveConfig } from "../../config/door.ts";
import type { Row } from "../../records/files/door.ts";
import type { ServerClient } from "../../servers/calls/door.ts";
import type { RunningServers } from "../../servers/hosting/door.ts";
import { eitherSignal } from "../evaluate.ts";
import type { EvaluationOptions } from "../options.ts";
import { checkModelEndpoints } from "../preflight.ts";
import { type ResolvedRun, type RunConfig, resolveRun } from "../run-config.ts";
import { onlyServers, startResolved } from "../start-servers.ts";
import { BatchRunner } from "./batches.ts";
import type { OptimizeBudget } from "./budget.ts";
import { type CandidateLayer, type Components, setAt } from "./components.ts";
import type { Journal } from "./journal.ts";
import { LeakCheck } from "./leaks.ts";
import type { OptimizeEvent } from "./optimize.ts";
import type { OptimizeOptions } from "./options.ts";
import { PROPOSERS, reflectionModel } from "./proposers.ts";
import { Search } from "./search.ts";
import { SELECTORS } from "./selectors.ts";
import { SPLITS, type Splits } from "./splits.ts";

export const DEFAULT_MINIBATCH = 3;
export const DEFAULT_MERGES = 5;

/** The servers of one session, and what uses them. */
export class Session {
  readonly #setting: SessionSetting;
  readonly #servers: RunningServers;
  /** Whether the batches use the servers of the session. */
  readonly #shares: boolean;
  readonly #spent: () => number;
  #tokens = 0;

  private constructor(
    setting: SessionSetting,
    servers: RunningServers,
    shares: boolean,
    spent: () => number,
  ) {
    this.#setting = setting;
    this.#servers = servers;
    this.#shares = shares;
    this.#spent = spent;
  }

  /** Starts the servers: all of them if the batches share them, else the reflection model only. */
  static async start(setting: SessionSetting): Promise<Session> {
    const { resolved, options, components, journal, reflection, emit, roots, installRoot } = setting;
    const { config, definitions } = resolved;
    const shares = options.queue === undefined && !components.changeConfig;
    const stopping = eitherSignal(options);
    const wanted = shares ? config : onlyServers(config, ({ name }) => name === reflection);
    let spent = () => 0;
    const servers = await startResolved(wanted, definitions, {
      roots,
      installRoot,
      head: false,
      onMeter: (meter) => {
        meter.add(journal.spentEarlier);
        spent = () => meter.spent;
      },
      onEvent: (event) => emit({ type: "run", event: { type: "server", event } }),
      signal: stopping,
      ownsProcess: options.ownsProcess,
      logDirectory: path.join(options.output, "logs"),
    });
    try {
      // Calls of an endpoint that is down are retried for a long time.
      await checkModelEndpoints(wanted, {
        signal: stopping ?? new AbortController().signal,
        onNotice: (text) => emit({ type: "notice", text }),
        brief: true,
      });
    } catch (error) {
      await servers.close();
      throw error;
    }
    return new Session(setting, servers, shares, () => spent());
  }

  /** Calls a check with the servers of batches. Over the queue, they run elsewhere. */
  async checked(check: (client: ServerClient) => Promise<void>): Promise<void> {
    const { given, options, emit, roots, installRoot } = this.#setting;
    if (this.#shares) return check(this.#servers.client);
    if (options.queue !== undefined) return;
    // The reflection model listens on its port already.
    const { config, definitions } = await resolveRun(await withValues(given, {}));
    const servers = await startResolved(config, definitions, {
      roots,
      installRoot,
      head: false,
      onEvent: (event) => emit({ type: "run", event: { type: "server", event } }),
      signal: eitherSignal(options),
      ownsProcess: options.ownsProcess,
      logDirectory: path.join(options.output, "logs"),
    });
    try {
      await check(servers.client);
    } finally {
      await servers.close();
    }
  }

  close(): Promise<void> {
    return this.#servers.close();
  }

  search(splits: Splits, random: () => number): Search {
    const { options, components, journal, reflection, budget, emit } = this.#setting;
    const { proposer = "reflect", selector = "pareto", signal, drain } = options;
    const ask = reflectionModel(this.#servers.client, reflection, {
      signal: drain ?? signal,
      onTokens: (tokens) => {
        this.#tokens += tokens;
      },
      onNotice: (text) => emit({ type: "notice", text }),
    });
    return new Search({
      components,
      splits,
      journal,
      budget,
      random,
      ask,
      used: () => ({ tokens: this.#tokens, spent: this.#spent() }),
      runner: this.#runner(),
      leaks: new LeakCheck(SPLITS.flatMap((split) => splits[split])),
      proposer: typeof proposer === "string" ? PROPOSERS[proposer] : proposer,
      selector: typeof selector === "string" ? SELECTORS[selector] : selector,
      repeats: options.repeats ?? 1,
      minibatch: options.minibatch ?? DEFAULT_MINIBATCH,
      perfect: options.perfectScore ?? 1,
      maxMerges: options.maxMerges ?? DEFAULT_MERGES,
      onEvent: emit,
    });
  }

  #runner(): BatchRunner {
    const { resolved, given, options, budget, emit } = this.#setting;
    const { config } = resolved;
    const agents = config.servers
      .filter(({ type }) => type === "responses_api_agents")
      .map(({ name }) => name);
    return new BatchRunner({
      directory: options.output,
      evaluation: evaluationOptions(options),
      servers: this.#shares ? { client: this.#servers.client, agents } : undefined,
      config: async (layer) => (this.#shares ? config : batchConfig(given, layer, budget)),
      spent: this.#spent,
      tokensLeft: () => budget.limits.tokens - budget.used.tokens,
      onEvent: (event) => emit({ type: "run", event }),
    });
  }
}

export interface SessionSetting {
  resolved: ResolvedRun;
  given: RunConfig;
  options: OptimizeOptions;
  components: Components;
  journal: Journal;
  /** The server of the reflection model. */
  reflection: string;
  budget: OptimizeBudget;
  emit: (event: OptimizeEvent) => void;
  roots: readonly string[];
  installRoot: string;
}

export function evaluationOptions(options: OptimizeOptions): EvaluationOptions {
  const { agent, concurrency, maxAttempts, rolloutTimeoutSeconds, params, promptConfig, checkRows, skills } =
    options;
  const { queue, signal, drain, roots, installRoot, cwd, ownsProcess, env } = options;
  const run = {
    agent,
    concurrency,
    maxAttempts,
    rolloutTimeoutSeconds,
    params,
    promptConfig,
    checkRows,
    skills,
  };
  const program = { queue, signal, drain, roots, installRoot, cwd, ownsProcess, env };
  const given = Object.entries({ ...run, ...program }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as EvaluationOptions;
}

/** The config of a batch that starts its own servers. */
function batchConfig(given: RunConfig, layer: CandidateLayer, budget: OptimizeBudget): Promise<RunConfig> {
  const values: Row = {};
  for (const [key, text] of Object.entries(layer.config))
    setAt(values, key.split("."), escapeInterpolations(text));
  const { dollars } = budget.limits;
  if (Number.isFinite(dollars)) values["max_cost"] = Math.max(0, dollars - budget.used.spent);
  return withValues(given, values);
}

/** The same config with other values. */
export async function withValues(given: RunConfig, values: Row): Promise<RunConfig> {
  if (!("toObject" in given)) return { ...given, values: merged(given.values ?? {}, values) };
  // Ports are assigned again: those of the given config may be in use.
  const { config_paths: _loaded, ...own } = withoutPorts(given.toObject() as Row, given);
  return resolveConfig({ initial: merged(own, values), skipEnvYaml: true, requireServers: true });
}

function withoutPorts(values: Row, { servers }: ResolvedConfig): Row {
  const copy = structuredClone(values);
  for (const { name, type, implementation } of servers) {
    const block = [name, type, implementation].reduce<unknown>(
      (at, key) => (isObject(at) ? at[key] : undefined),
      copy,
    );
    if (isObject(block)) delete block["port"];
  }
  return copy;
}

function merged(base: Readonly<Row>, own: Readonly<Row>): Row {
  const result: Row = { ...base };
  for (const [key, value] of Object.entries(own)) {
    const old = result[key];
    result[key] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}
