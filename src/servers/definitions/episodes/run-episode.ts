import type { z } from "zod";
import type { Logger } from "../../../base/door.ts";
import { errorMessage } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { Deadline, untilAborted } from "../../../base/transport/light-door.ts";
import { laxFloat, laxInt } from "../../../wire/schemas/lax.ts";
import type { EpisodeFailure, EpisodeReply, EpisodeRequest, EpisodeStage } from "./schemas.ts";

/** Maximum length of a failure reason. */
const MAX_REASON = 2_000;

const positive = <T extends z.ZodType<number>>(number: T) =>
  number.refine((value) => value > 0, { error: "must be more than 0" });

/** Limits of an environment server. A relay accepts them and enforces none. */
export const episodeLimits = {
  max_concurrent_episodes: positive(laxInt()).nullish(),
  queue_timeout_seconds: positive(laxFloat()).nullish(),
  default_episode_timeout_seconds: positive(laxFloat()).nullish(),
  cleanup_timeout_seconds: positive(laxFloat()).nullish(),
};

export interface EpisodeLimits {
  max_concurrent_episodes?: number | null;
  queue_timeout_seconds?: number | null;
  default_episode_timeout_seconds?: number | null;
  cleanup_timeout_seconds?: number | null;
}

const DEFAULT_CLEANUP_SECONDS = 180;

/** A failure of a known stage of an episode. */
export class EpisodeError extends Error {
  readonly failure: EpisodeFailure;

  constructor(stage: EpisodeStage, reason: string, terminal: boolean, partialResponse?: unknown) {
    super(reason);
    this.failure = {
      failure_reason: reason.slice(0, MAX_REASON),
      terminal,
      stage,
      ...(partialResponse !== undefined && { partial_response: partialResponse }),
    };
  }
}

/** What the work of an episode gets. */
export interface EpisodeScope {
  signal: AbortSignal;
  /** Runs after the work, the last one first, also if the episode fails or its caller disconnects. */
  onCleanup(task: (signal: AbortSignal) => Promise<void>): void;
}

/** Runs the episodes of one environment server within its limits. */
export class Episodes {
  readonly #limits: EpisodeLimits;
  readonly #log: Logger;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limits: EpisodeLimits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
    this.#free = limits.max_concurrent_episodes ?? Number.POSITIVE_INFINITY;
  }

  async run(
    { episode_id, task: { task_id } }: EpisodeRequest,
    signal: AbortSignal,
    work: (scope: EpisodeScope) => Promise<JsonObject>,
  ): Promise<EpisodeReply> {
    const failed = (failure: EpisodeFailure): EpisodeReply => ({
      episode_id,
      task_id,
      result: null,
      failure: { partial_response: null, ...failure },
    });
    if (!(await this.#admit(signal)))
      return failed({ failure_reason: "Episode admission timed out", terminal: false, stage: "admission" });
    const cleanups: ((signal: AbortSignal) => Promise<void>)[] = [];
    const seconds = this.#limits.default_episode_timeout_seconds ?? Number.POSITIVE_INFINITY;
    const deadline = new Deadline(seconds * 1000, signal);
    try {
      const scope = {
        signal: deadline.signal,
        onCleanup: (task: (typeof cleanups)[0]) => cleanups.push(task),
      };
      return { episode_id, task_id, result: await deadline.race(work(scope)), failure: null };
    } catch (error) {
      if (deadline.passed) return failed({ failure_reason: "Episode timed out", terminal: false });
      signal.throwIfAborted();
      if (error instanceof EpisodeError) return failed(error.failure);
      const name = error instanceof Error ? error.name : typeof error;
      const reason = `Unhandled environment server error: ${name}: ${errorMessage(error)}`;
      return failed({ failure_reason: reason.slice(0, MAX_REASON), terminal: true });
    } finally {
      deadline.clear();
      await this.#cleanUp(cleanups.reverse());
      this.#release();
    }
  }

  /** All tasks share one time limit, which a caller that disconnects does not shorten. */
  async #cleanUp(tasks: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
    const deadline = new Deadline((this.#limits.cleanup_timeout_seconds ?? DEFAULT_CLEANUP_SECONDS) * 1000);
    for (const task of tasks) {
      try {
        await untilAborted(task(deadline.signal), deadline.signal);
      } catch (error) {
        this.#log.warn(`the clean-up of an episode failed: ${errorMessage(error)}`);
      }
    }
    deadline.clear();
  }

  /** Waits for a slot; false when the time in the queue is over. */
  async #admit(signal: AbortSignal): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    const seconds = this.#limits.queue_timeout_seconds ?? Number.POSITIVE_INFINITY;
    const deadline = new Deadline(seconds * 1000, signal);
    let admit: () => void = () => {};
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
      this.#waiting.push(resolve);
    });
    try {
      await deadline.race(admitted);
      return true;
    } catch (error) {
      const place = this.#waiting.indexOf(admit);
      // The slot was handed over at the moment of giving up.
      if (place < 0) this.#release();
      else this.#waiting.splice(place, 1);
      if (deadline.passed) return false;
      throw error;
    } finally {
      deadline.clear();
    }
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
