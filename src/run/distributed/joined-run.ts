import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { copyWith } from "../../base/python/json/door.ts";
import type { Telemetry } from "../../base/telemetry/door.ts";
import type { ResolvedConfig, ResolveOptions } from "../../config/door.ts";
import { environmentsOf } from "../../config/door.ts";
import { findPath, installRoot as packageRoot, searchRoots } from "../../config/paths.ts";
import type { Row } from "../../records/files/door.ts";
import { RunClient, type ServerClient } from "../../servers/calls/door.ts";
import type { ServersEvent as ServerEvent } from "../../servers/hosting/door.ts";
import type { CostMeter } from "../../servers/model-endpoint/door.ts";
import type { RunResult } from "../collect/collect-contract.ts";
import { LocalExecutor } from "../collect/local-executor.ts";
import { StartedRollout } from "../collect/started-rollout.ts";
import { RolloutTraces } from "../collect/trace-rollouts.ts";
import { gymVersion } from "../gym-version.ts";
import { headUrl, runningServers } from "../head.ts";
import type { RunRecord } from "../queue/board.ts";
import type { BrokerSettings } from "../queue/broker-settings.ts";
import { StoreClient } from "../queue/store-client.ts";
import type { ResultHead } from "../queue/store-server.ts";
import type { RolloutRef } from "../queue/subjects.ts";
import { startResolved } from "../start-servers.ts";
import { openCaptures } from "../trajectory/open-captures.ts";
import { SharedStore } from "./run-directory.ts";
import { rejectNoSandbox, resolveForWorker } from "./shared-config.ts";

export interface JoinOptions {
  broker: Pick<BrokerSettings, "owner">;
  worker: string;
  /** How to find the worker's own settings. */
  resolve: ResolveOptions;
  /** The shared directory of runs on this machine, if its path differs from the collector's. */
  storeDirectory?: string;
  /** Uses the running servers of the worker's head server. */
  noServe?: boolean;
  /** Joins runs that execute code without a sandbox. */
  allowNoSandbox?: boolean;
  /** Receives the cost meter of the run before any call. */
  onMeter: (meter: CostMeter) => void;
  signal: AbortSignal;
  onServerEvent: (event: ServerEvent) => void;
  onNotice: (text: string) => void;
}

interface Servers {
  client: ServerClient;
  telemetry?: Telemetry;
  close(): Promise<void>;
  crashed?: Promise<never>;
}

/** The opened parts of a joined run. */
interface Parts {
  /** Returns the latest record of the run. */
  find: () => RunRecord;
  worker: string;
  store: StoreClient;
  shared: SharedStore | undefined;
  servers: Servers;
  runner: LocalExecutor;
  onNotice: (text: string) => void;
}

/** A warning if the collector of a run has another version than this worker. */
export function otherVersion(
  { run, version }: Pick<RunRecord, "run" | "version">,
  own: string,
): string | undefined {
  if (version === undefined || version === own) return undefined;
  return `warning: run ${run} is collected by version ${version}, and this worker has version ${own}: rollouts may be scored by different rules. Install the same version everywhere.`;
}

/** A run on a worker: its store and the servers of its config. */
export class JoinedRun {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Reads the config of a run and starts its servers. `find` returns the latest record, because the collector may move.
   */
  static async join(find: () => RunRecord, options: JoinOptions): Promise<JoinedRun> {
    const { resolve, worker, signal, onNotice } = options;
    const store = new StoreClient(() => find().store, { onNotice, owner: options.broker.owner });
    const shared = await sharedStore(find(), options);
    const abandon = () => void store.close();
    signal.addEventListener("abort", abandon);
    try {
      const config = await resolveForWorker(await (shared ?? store).config(), resolve);
      if (!options.allowNoSandbox) rejectNoSandbox(config);
      const { installRoot = packageRoot(), env = process.env, cwd } = resolve;
      const warning = otherVersion(find(), gymVersion(installRoot));
      if (warning !== undefined) onNotice(warning);
      const roots = searchRoots({ installRoot, env: { ...env }, cwd });
      const servers = options.noServe
        ? await runningElsewhere(config, signal)
        : await startResolved(config, new Map(), {
            roots,
            installRoot,
            head: false,
            ownsProcess: true,
            onMeter: options.onMeter,
            signal,
            onEvent: options.onServerEvent,
          });
      const captures = await openCaptures({
        config: config.toObject(),
        agentConfig: (agent) => config.servers.find(({ name }) => name === agent)?.config,
        findFile: (file) => findPath(file, roots),
        onNotice,
      });
      const environments = environmentsOf(config.servers);
      const traces = servers.telemetry && new RolloutTraces(servers.telemetry.tracer);
      const runner = new LocalExecutor({ client: servers.client, captures, environments, traces });
      return new JoinedRun({ find, worker, store, shared, servers, runner, onNotice });
    } catch (error) {
      await shared?.close();
      await store.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }

  /** Rejects when a server of the run stops unexpectedly. */
  get crashed(): Promise<never> | undefined {
    return this.#parts.servers.crashed;
  }

  /** Whether the collector is unreachable although rows or results must be exchanged with it. */
  get isCollectorAway(): boolean {
    return this.#parts.store.isAway;
  }

  /** Called when the collector becomes unreachable, and when it is reachable again. */
  set onCollectorAway(callback: () => void) {
    this.#parts.store.onAway = callback;
  }

  /** Loads the rollout of a reference; undefined when it is settled. Rejects when the collector is unreachable. */
  async load(ref: RolloutRef): Promise<StartedRollout | undefined> {
    const text = await (this.#parts.shared ?? this.#parts.store).row([
      ref.task,
      ref.rollout,
      ref.attempt,
      ref.at,
    ]);
    if (text === null) return undefined;
    const row = JSON.parse(text) as Row;
    const queued = {
      row: ref.attempt > 0 ? copyWith(row, { _ng_attempt_index: ref.attempt }) : row,
      taskIndex: ref.task,
      rolloutIndex: ref.rollout,
      attempt: ref.attempt,
      agent: ref.agent,
      trace: ref.trace,
    };
    return new StartedRollout(
      queued,
      this.#parts.runner.target(queued),
      this.#parts.find().rollout_timeout_ms,
    );
  }

  run(rollout: StartedRollout): Promise<RunResult> {
    return this.#parts.runner.run(rollout);
  }

  /** Saves a result in the store of the run. */
  async save({ task, rollout, attempt, agent, at }: RolloutRef, result: RunResult): Promise<void> {
    const about = { task, rollout, attempt, agent, at, worker: this.#parts.worker };
    if (result.status === "completed") {
      await this.#keep({ ...about, status: "completed" }, result.line);
      await result.settle?.(async () => {});
    } else if (result.status === "failed") {
      const { failure, persist, line = "" } = result;
      const head: ResultHead = { ...about, status: "failed", failure, persist };
      await this.#keep(head, line);
    }
  }

  /** If the shared directory is not writable, the result is sent to the collector instead of being lost. */
  async #keep(head: ResultHead, line: string): Promise<void> {
    const { shared, store, onNotice } = this.#parts;
    try {
      if (shared) return await shared.save(head, line);
    } catch (error) {
      onNotice(`The result goes to the collector instead: ${errorMessage(error)}`);
    }
    await store.save(head, line);
  }

  async close(): Promise<void> {
    const { store, shared, servers } = this.#parts;
    await store.close();
    await shared?.close();
    await servers.close();
  }
}

/** The shared directory of a run, if it has one and this machine can access it. */
async function sharedStore(
  { run, directory }: RunRecord,
  { storeDirectory, worker, onNotice }: JoinOptions,
): Promise<SharedStore | undefined> {
  if (directory === null) return undefined;
  const place = storeDirectory === undefined ? directory : path.join(storeDirectory, run);
  try {
    return await SharedStore.open(place, worker);
  } catch (error) {
    onNotice(
      `Rows and results of run ${run} go through the collector, since its shared directory cannot be used here: ${errorMessage(error)} (gym worker --store DIR says where it is)`,
    );
    return undefined;
  }
}

async function runningElsewhere(config: ResolvedConfig, signal: AbortSignal): Promise<Servers> {
  const servers = await runningServers(headUrl(config), signal);
  const client = new RunClient({
    addresses: new Map(servers.map(({ process_name, url }) => [process_name, url])),
  });
  return { client, close: () => client.close() };
}
