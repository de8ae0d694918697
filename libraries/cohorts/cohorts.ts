import { HttpError } from "nemo-gym";

/** Where a member of a cohort belongs. */
export interface Seat {
  /** Members with the same key are scored together. */
  readonly key: string;
  /** A higher attempt replaces the cohort of a lower one. */
  readonly attempt?: number;
  /** Position in the cohort; default: the order of arrival. */
  readonly slot?: number;
  /** Identifies the content. The same content may ask for a slot again, other content may not. */
  readonly content?: string;
  /** What all members have in common; members with another subject are refused. */
  readonly subject?: string;
  /** Keeps the outcome for members that ask again. */
  readonly keep?: boolean;
}

export interface CohortOptions<Member, Outcome> {
  /** Number of members that are scored together. */
  readonly size: number;
  /** Time between the first and the last member. */
  readonly collectionTimeoutMs: number;
  /** How long, and for how many cohorts, outcomes are kept. */
  readonly outcomeTtlMs?: number;
  readonly maxOutcomes?: number;
  /** Scores a complete cohort; one outcome per slot. */
  evaluate(members: Member[], last: AbortSignal): Promise<Outcome[]>;
}

interface Cohort<Member, Outcome> {
  readonly attempt: number;
  readonly subject: string | undefined;
  readonly slots: Map<number, { member: Member; content: string | undefined; waiting: number }>;
  readonly outcomes: Promise<Outcome[]>;
  readonly timer: NodeJS.Timeout;
  resolve(outcomes: Promise<Outcome[]>): void;
  reject(error: Error): void;
  isComplete: boolean;
  /** When a kept outcome is forgotten; undefined until the cohort has ended. */
  expires?: number;
}

/**
 * A barrier between rollouts that are scored together: each member waits until all are present. The members of a cohort
 * must reach the same process. A cohort that stays incomplete fails; it never gets a reward.
 */
export class Cohorts<Member, Outcome> {
  readonly #options: CohortOptions<Member, Outcome>;
  readonly #cohorts = new Map<string, Cohort<Member, Outcome>>();

  constructor(options: CohortOptions<Member, Outcome>) {
    this.#options = options;
  }

  /** Waits for the other members; returns the outcome of this one. */
  async join(seat: Seat, member: Member, signal: AbortSignal): Promise<Outcome> {
    this.#forgetExpired();
    const cohort = this.#cohortOf(seat);
    const slot = seat.slot ?? cohort.slots.size;
    const taken = cohort.slots.get(slot);
    if (taken && taken.content !== seat.content) {
      throw new HttpError(409, `Slot ${slot} of this cohort already has another response.`);
    }
    const place = taken ?? { member, content: seat.content, waiting: 0 };
    cohort.slots.set(slot, place);
    place.waiting++;
    if (!cohort.isComplete && cohort.slots.size === this.#options.size) this.#evaluate(seat, cohort, signal);
    const leave = () => {
      place.waiting--;
      // A caller that is gone does not collect its reward. Its retry may bring another response.
      if (place.waiting === 0 && !cohort.isComplete) cohort.slots.delete(slot);
    };
    const outcomes = await untilAborted(cohort.outcomes, signal).catch((error: unknown) => {
      if (signal.aborted) leave();
      throw error;
    });
    return outcomes[slot] as Outcome;
  }

  /** Fails every cohort that still waits. */
  close(): void {
    for (const { timer, reject } of this.#cohorts.values()) {
      clearTimeout(timer);
      reject(new HttpError(503, "The server stops."));
    }
    this.#cohorts.clear();
  }

  #cohortOf({ key, attempt = 0, slot, subject }: Seat): Cohort<Member, Outcome> {
    const found = this.#cohorts.get(key);
    if (found && attempt < found.attempt) {
      throw new HttpError(409, `This cohort is at attempt ${found.attempt}; attempt ${attempt} is over.`);
    }
    // Without slots, members that arrive during the evaluation belong to the next cohort.
    const isNext = found?.isComplete === true && slot === undefined;
    if (found && attempt === found.attempt && !isNext) {
      if (found.subject !== subject) throw new HttpError(409, "This cohort has another prompt or principle.");
      return found;
    }
    clearTimeout(found?.timer);
    found?.reject(new HttpError(503, `Attempt ${attempt} replaced this attempt of the cohort.`));
    const cohort = this.#newCohort(key, attempt, subject);
    this.#cohorts.delete(key);
    this.#cohorts.set(key, cohort);
    return cohort;
  }

  #newCohort(key: string, attempt: number, subject: string | undefined): Cohort<Member, Outcome> {
    const { size, collectionTimeoutMs } = this.#options;
    const slots: Cohort<Member, Outcome>["slots"] = new Map();
    const { promise: outcomes, resolve, reject } = withResolvers<Outcome[]>();
    // Its members may be gone before the cohort fails.
    outcomes.catch(() => {});
    const timer = setTimeout(() => {
      if (this.#cohorts.get(key) === cohort) this.#cohorts.delete(key);
      const seconds = collectionTimeoutMs / 1000;
      reject(new HttpError(503, `Only ${slots.size} of ${size} members arrived within ${seconds} s.`));
    }, collectionTimeoutMs).unref();
    const cohort = { attempt, subject, slots, outcomes, timer, resolve, reject, isComplete: false };
    return cohort;
  }

  #evaluate({ key, keep }: Seat, cohort: Cohort<Member, Outcome>, signal: AbortSignal): void {
    cohort.isComplete = true;
    clearTimeout(cohort.timer);
    const members = [...cohort.slots].sort(([a], [b]) => a - b).map(([, { member }]) => member);
    cohort.resolve(this.#options.evaluate(members, signal));
    const finished = () => {
      if (this.#cohorts.get(key) !== cohort) return;
      this.#cohorts.delete(key);
      if (!keep) return;
      cohort.expires = performance.now() + (this.#options.outcomeTtlMs ?? 0);
      this.#cohorts.set(key, cohort);
    };
    cohort.outcomes.then(finished, finished);
  }

  /** Finished cohorts are in the order in which they ended, because each moves to the end of the map. */
  #forgetExpired(): void {
    const { maxOutcomes = 0 } = this.#options;
    const now = performance.now();
    const finished = [...this.#cohorts].filter(([, { expires }]) => expires !== undefined);
    for (const [index, [key, { expires = 0 }]] of finished.entries()) {
      if (expires <= now || index < finished.length - maxOutcomes) this.#cohorts.delete(key);
    }
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function withResolvers<T>() {
  let resolve!: (value: Promise<T>) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
