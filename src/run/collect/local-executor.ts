import { errorMessage } from "../../base/errors.ts";
import { failure as failureOf } from "../../base/failures.ts";
import { type Environment, environmentOfAgent, RELAY } from "../../config/door.ts";
import type { Row } from "../../records/files/door.ts";
import {
  callServer,
  neverReached,
  type RequiredCall,
  type ServerClient,
  type ServerReply,
} from "../../servers/calls/door.ts";
import { type AttachedRow, type RolloutCaptures, withTrajectory } from "../trajectory/captures.ts";
import type { CallTarget, Executor, RolloutSink, RunResult } from "./collect-contract.ts";
import { type Failure, type Outcome, outcomeOfError, RolloutCancelled } from "./outcome.ts";
import { failureRow, lineOf, modelCallsOf, outputRow } from "./output-row.ts";
import type { QueuedRow } from "./row-queues.ts";
import type { StartedRollout } from "./started-rollout.ts";
import { outcomeOfRun, runBody } from "./task-episode.ts";
import type { RolloutTraces } from "./trace-rollouts.ts";

const PROBE_TIMEOUT_MS = 10_000;

export interface LocalExecutorOptions {
  client: ServerClient;
  /** The server that receives a row. Default: its agent's `/run`. */
  target?: (row: QueuedRow) => CallTarget;
  /** The environment servers of the run, which results name. Default: results name none. */
  environments?: readonly Environment[];
  /** Recordings of the servers about the rollouts. */
  captures?: RolloutCaptures;
  /** Updates the addresses of servers before a probe of one that was unreachable. */
  refreshAddresses?: (signal: AbortSignal) => Promise<void>;
  /** Records a trace of each rollout. Default: none. */
  traces?: RolloutTraces;
}

type ModelListener = Pick<RolloutSink, "modelCalled" | "modelAnswered">;

/** Runs rollouts in this process: sends the row to its agent and converts the reply to an output row. */
export class LocalExecutor implements Executor {
  readonly canRestart = true;
  readonly #options: LocalExecutorOptions;
  /** The default targets, one object per agent. */
  readonly #runs = new Map<string, CallTarget>();

  constructor(options: LocalExecutorOptions) {
    this.#options = options;
  }

  target(queued: QueuedRow): CallTarget {
    const own = this.#options.target?.(queued);
    if (own) return own;
    let usual = this.#runs.get(queued.agent);
    if (!usual) {
      const environment = this.#environmentOf(queued);
      // A relay would pass the row on unread.
      const server =
        environment === undefined || environment.kind === RELAY ? queued.agent : environment.name;
      usual = { server, path: "/run", stage: "run" };
      this.#runs.set(queued.agent, usual);
    }
    return usual;
  }

  #environmentOf({ agent, row }: QueuedRow): Environment | undefined {
    const { environments = [] } = this.#options;
    const stamped = row["_ng_environment_server"];
    if (stamped !== undefined) return environments.find(({ name }) => name === stamped);
    return environmentOfAgent(environments, agent);
  }

  /** Adds the environment server of a rollout to its row. */
  #stamped(row: Row, { queued }: StartedRollout): Row {
    const environment = this.#environmentOf(queued);
    if (environment === undefined) return row;
    return Object.assign(row, {
      _ng_environment_server: environment.name,
      _ng_result_type: environment.kind,
    });
  }

  start(rollout: StartedRollout, sink: RolloutSink): void {
    // A collection that cannot record a result has already ended, and `broke` changes nothing.
    this.run(rollout, sink)
      .then((result) => sink.settle(rollout, result))
      .catch((error: unknown) => sink.broke(rollout, error));
  }

  stop(rollout: StartedRollout, reason: string): void {
    rollout.abort(new RolloutCancelled(reason));
  }

  async probe(server: string, signal: AbortSignal): Promise<void> {
    await this.#options.refreshAddresses?.(signal);
    await this.#options.client.get(server, "/", { signal, timeoutMs: PROBE_TIMEOUT_MS });
  }

  /** Not async, because an async function would use more memory for each of thousands of waiting rollouts. */
  run(rollout: StartedRollout, listener?: ModelListener): Promise<RunResult> {
    const { captures, traces } = this.#options;
    const ask = () =>
      captures
        ? captures.prepare(rollout.queued.row).then(() => this.#ask(rollout, listener))
        : this.#ask(rollout, listener);
    return traces ? traces.trace(rollout, ask) : ask();
  }

  #ask(rollout: StartedRollout, listener: ModelListener | undefined): Promise<RunResult> {
    rollout.begin();
    return this.#send(rollout, listener).then(
      (reply) => this.#finish(rollout, () => this.#ofReply(reply, rollout)),
      (error: unknown) => this.#finish(rollout, () => this.#ofError(error, rollout)),
    );
  }

  #send(rollout: StartedRollout, listener: ModelListener | undefined): Promise<ServerReply> {
    const call: RequiredCall = {
      ...rollout.target,
      body: runBody(rollout.queued.row),
      signal: rollout.signal,
      onStage: (stage, what) => {
        rollout.entered(stage, what);
        if (rollout.lastStage?.stage === "model") listener?.modelAnswered();
        if (stage === "model") listener?.modelCalled();
      },
    };
    try {
      return callServer(this.#options.client, call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #ofReply(reply: ServerReply, rollout: StartedRollout): Outcome | RunResult {
    try {
      return outcomeOfRun(reply.json(), rollout.queued.row, rollout.target.server);
    } catch (error) {
      return this.#ofError(error, rollout);
    }
  }

  #ofError(error: unknown, rollout: StartedRollout): Outcome | RunResult {
    const { server } = rollout.target;
    if (rollout.signal.aborted || !neverReached(server, error))
      return outcomeOfError(error, { signal: rollout.signal, stage: rollout.stage });
    return { status: "unreachable", server, message: errorMessage(error) };
  }

  async #finish(rollout: StartedRollout, read: () => Outcome | RunResult): Promise<RunResult> {
    rollout.end();
    const timing = rollout.timing();
    const outcome = read();
    const { row: input } = rollout.queued;
    try {
      if (outcome.status === "completed") {
        const output = this.#stamped(outputRow(outcome.row, input, timing), rollout);
        const attached = this.#attach(output, input, "completed");
        // Without captures the row is available immediately.
        const { row, settle } = attached instanceof Promise ? await attached : attached;
        return { status: "completed", row, line: lineOf(row), modelCalls: modelCallsOf(row), settle };
      }
      if (outcome.status !== "failed") return outcome;
      const { failure, persist } = outcome;
      if (!persist) return { status: "failed", failure, persist };
      const reply = "row" in outcome ? outcome.row : undefined;
      const failed = this.#stamped(failureRow(failure, input, { reply, timing }), rollout);
      const { row } = await this.#attach(failed, input, "failed");
      return { status: "failed", failure, persist, line: lineOf(row), modelCalls: modelCallsOf(row) };
    } catch (error) {
      return this.#notJson(rollout, error);
    }
  }

  #attach(row: Row, input: Row, outcome: "completed" | "failed"): Promise<AttachedRow> | AttachedRow {
    return this.#options.captures?.attach(row, input, outcome) ?? { row: withTrajectory(row, input) };
  }

  /** A result that cannot be serialized fails its rollout, not the run. */
  #notJson(rollout: StartedRollout, error: unknown): RunResult {
    if ((error as { code?: unknown }).code !== "ROLLOUT_ROW_NOT_JSON") throw error;
    const message = `${rollout.target.server}: ${errorMessage(error)}`;
    const failure: Failure = { ...failureOf("verifier_error", message), stage: "verify" };
    const line = lineOf(failureRow(failure, rollout.queued.row, { timing: rollout.timing() }));
    return { status: "failed", failure, persist: true, line };
  }
}
