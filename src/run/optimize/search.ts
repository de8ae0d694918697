import { errorMessage } from "../../base/errors.ts";
import type { Row } from "../../records/files/door.ts";
import type { Batches, BatchResult } from "./batches.ts";
import type { BudgetUsage, OptimizeBudget } from "./budget.ts";
import { type Components, invalid } from "./components.ts";
import { cut, describeTask } from "./feedback.ts";
import type { Journal } from "./journal.ts";
import type { CountedLeak, Leak, LeakCheck } from "./leaks.ts";
import { findMerge, type Merge, mergeKey, sameTexts, type Texts } from "./merge.ts";
import { meanScore, pairedGain, type Scores } from "./pareto.ts";
import type { Ask, Proposal, Proposer } from "./proposers.ts";
import type { Selector } from "./selectors.ts";
import { type SplitName, type Splits, shuffle, type Task } from "./splits.ts";

/** Proposals in a row that change nothing, before the search ends. */
const MAX_IDLE = 20;
/** Components that are tried with the same rollouts. */
const MAX_COMPONENTS = 4;
/** Components that a candidate changes at once. */
const MAX_CHANGED = 2;
/** Failed calls of the reflection model in a row, before the search ends. */
const MAX_BROKEN = 5;
/** Validation tasks on which a merge is tried first. */
const MERGE_TASKS = 5;

/** Characters of a failure that a sentence repeats. */
const MAX_FAILURE = 300;

/** A version of the texts. Candidate 0 has the texts as they are. */
export interface Candidate {
  index: number;
  /** None for the first one, two for a merge. */
  parents: readonly number[];
  /** The components that were changed, with commas between them; null for the first one and for merges. */
  component: string | null;
  texts: Texts;
}

export interface SearchOptions {
  components: Components;
  splits: Splits;
  runner: Batches;
  journal: Journal;
  budget: OptimizeBudget;
  leaks: LeakCheck;
  proposer: Proposer;
  selector: Selector;
  ask: Ask;
  /** What the reflection model and the servers that it shares have used in this session. */
  used: () => { tokens: number; spent: number };
  random: () => number;
  repeats: number;
  minibatch: number;
  perfect: number;
  maxMerges: number;
  onEvent: (event: SearchEvent) => void;
}

export type SearchEvent =
  | { type: "candidate"; candidate: Candidate; score: number | null; best: boolean }
  | { type: "rejected"; parents: readonly number[]; component: string | null; reason: string }
  | { type: "batch"; candidate: number; split: SplitName; score: number | null; result: BatchResult };

/** Why proposals did not become candidates, with their number. */
export type Rejections = Record<string, number>;

/** The rollouts of a candidate so far. */
interface KnownRollouts {
  scores: Map<number, number>;
  /** Tasks that were run. Those that failed have no score. */
  tried: Set<number>;
  directories: string[];
}

/** The rollouts of a candidate on the test split; without a result if the budget was spent. */
export interface TestRun {
  scores: Scores;
  result: BatchResult | undefined;
}

type Outcome = "accepted" | "rejected" | "idle" | "broken" | "failed" | "learned";

type RecordedProposal = Row & Proposal & BudgetUsage & { broken: boolean };

/** The search is over: the budget does not allow what it needs next. */
class BudgetSpent extends Error {}

/**
 * Improves texts by reflection (GEPA): change one component of a leading candidate after reading its rollouts on a few
 * training tasks, keep the change if it helps there, and score it on all validation tasks.
 */
export class Search {
  /** The accepted candidates by index. */
  readonly candidates = new Map<number, Candidate>();
  /** Validation scores of the candidates. */
  readonly pool = new Map<number, Scores>();
  readonly rejections: Rejections = {};
  readonly leaks: CountedLeak[] = [];
  readonly #options: SearchOptions;
  /** What each candidate scored on each task, and the directories of its batches. */
  readonly #known = new Map<number, KnownRollouts>();
  readonly #nextComponent = new Map<number, number>();
  readonly #triedMerges = new Set<string>();
  #batches = 0;
  #nextIndex = 1;
  #lastFailure: string | null = null;
  #lastReason: string | undefined;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** Searches until the budget is spent or nothing is left to learn; returns the reason. */
  async run(): Promise<string> {
    const { components, splits } = this.#options;
    const seed = { index: 0, parents: [], component: null, texts: components.seed };
    try {
      const first = await this.#scores(seed, "val", splits.val);
      if (first.size === 0) throw allFailed(this.#lastFailure);
      this.#accept(seed, first);
      return await this.#improve();
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
      if (this.pool.size === 0)
        throw invalid(
          "The budget ended during the first validation, so nothing could be tried. Raise it and continue with --resume.",
        );
      return error.message;
    }
  }

  /** Runs a candidate on the test split, as the last step. */
  async test(candidate: Candidate): Promise<TestRun> {
    const { budget, splits, repeats } = this.#options;
    const { index } = candidate;
    if (!budget.affords(splits.test.length * repeats, 0)) return { scores: new Map(), result: undefined };
    const result = await this.#batch(candidate, "test", splits.test, repeats);
    return { scores: this.#scoresOf(index, splits.test), result };
  }

  async #improve(): Promise<string> {
    const { selector, random, maxMerges, minibatch, repeats, splits } = this.#options;
    // A candidate that helps must be validated, or the rollouts before were wasted.
    const needed = (4 * minibatch + splits.val.length) * repeats;
    let idle = 0;
    let idleReasons = new Set<string>();
    let broken = 0;
    let failed = 0;
    let learned = 0;
    let mergesDue = 0;
    let merges = 0;
    for (;;) {
      this.#require(needed);
      if (mergesDue > 0 && merges < maxMerges) {
        mergesDue--;
        const merge = findMerge(this.candidates, this.pool, this.#triedMerges, random);
        if (merge !== undefined) {
          merges++;
          await this.#tryMerge(merge);
          continue;
        }
      }
      const parent = this.candidates.get(selector.select(this.pool, random)) ?? this.#seed;
      this.#lastReason = undefined;
      const outcome = await this.#tryChange(parent);
      // All candidates that the selector may return are tried.
      learned = outcome === "learned" ? learned + 1 : 0;
      if (learned > MAX_IDLE) return "the leading candidates pass all training tasks";
      idle = outcome === "accepted" || outcome === "rejected" ? 0 : idle + 1;
      if (idle === 0) idleReasons = new Set();
      else if (this.#lastReason !== undefined) idleReasons.add(this.#lastReason);
      failed = outcome === "failed" ? failed + 1 : 0;
      broken = outcome === "broken" ? broken + 1 : 0;
      if (outcome === "accepted") mergesDue++;
      if (failed >= MAX_BROKEN)
        return `${this.#hasLearned() ? "the training rollouts that did not pass" : "all training rollouts"} failed${this.failureText}`;
      if (broken >= MAX_BROKEN) return `the reflection model failed ${MAX_BROKEN} times in a row`;
      if (idle > Math.max(MAX_IDLE, 2 * Object.keys(this.#seed.texts).length))
        return `${idle} proposals in a row changed nothing${idleReasons.size === 1 ? `: ${[...idleReasons][0]}` : ""}`;
    }
  }

  /** The last failure of a rollout, to be put behind a sentence. */
  get failureText(): string {
    return this.#lastFailure === null ? "" : `: ${cut(this.#lastFailure, MAX_FAILURE)}`;
  }

  /** Whether any training rollout was scored. */
  #hasLearned(): boolean {
    const { train } = this.#options.splits;
    return [...this.#known.values()].some(({ scores }) => train.some(({ index }) => scores.has(index)));
  }

  get #seed(): Candidate {
    return this.candidates.get(0) as Candidate;
  }

  async #tryChange(parent: Candidate): Promise<Outcome> {
    const tasks = await this.#nextTasks(parent);
    if (tasks.length === 0) return "learned";
    const known = this.#known.get(parent.index)?.scores;
    if (tasks.every(({ index }) => !known?.has(index))) {
      this.#reject([parent.index], null, "the training rollouts failed");
      return "failed";
    }
    const { child, isBroken } = await this.#proposeAny(parent, tasks);
    if (child === undefined) return isBroken ? "broken" : "idle";
    const before = await this.#scores(parent, "train", tasks);
    const gain = pairedGain(before, await this.#scores(child, "train", tasks));
    if (gain === undefined || gain <= 0) {
      const reason = gain === undefined ? "its rollouts failed" : "not better on the minibatch";
      this.#reject(child.parents, child.component, reason);
      return "rejected";
    }
    return (await this.#validate(child)) ? "accepted" : "rejected";
  }

  /**
   * Asks for changes of the components in turn until two are changed. The tasks may show something about each of them, and
   * one validation for both costs half.
   */
  async #proposeAny(
    parent: Candidate,
    tasks: readonly Task[],
  ): Promise<{ child?: Candidate; isBroken: boolean }> {
    const tries = Math.min(MAX_COMPONENTS, Object.keys(parent.texts).length);
    const changed: string[] = [];
    let texts = parent.texts;
    let isBroken = false;
    for (let attempt = 0; attempt < tries && changed.length < MAX_CHANGED && !isBroken; attempt++) {
      const component = this.#componentOf(parent);
      const answer = await this.#propose(parent, component, tasks);
      isBroken = answer.isBroken;
      const { proposal } = answer;
      const next = "text" in proposal ? { ...texts, [component]: proposal.text } : texts;
      const problem = "text" in proposal ? this.#problemOf(next, texts) : proposal.rejected;
      if (problem !== undefined) this.#reject([parent.index], component, problem);
      else {
        texts = next;
        changed.push(component);
      }
    }
    if (changed.length === 0) return { isBroken };
    return { child: this.#candidate([parent.index], changed.join(", "), texts), isBroken: false };
  }

  async #tryMerge({ parents, texts }: Merge): Promise<void> {
    const { random, splits } = this.#options;
    this.#triedMerges.add(mergeKey(parents));
    const child = this.#candidate(parents, null, texts);
    const tasks = shuffle([...splits.val], random).slice(0, MERGE_TASKS);
    const scores = await this.#scores(child, "val", tasks);
    const gains = parents.map((index) =>
      pairedGain(
        this.pool.get(index) ?? new Map(),
        scores,
        tasks.map((task) => task.index),
      ),
    );
    if (gains.some((gain) => gain === undefined || gain < 0))
      this.#reject(parents, null, "not better than its parents on the minibatch");
    else await this.#validate(child);
  }

  /** Scores a candidate on all validation tasks and adds it to the pool. */
  async #validate(child: Candidate): Promise<boolean> {
    const { splits } = this.#options;
    const scores = await this.#scores(child, "val", splits.val);
    if (scores.size === 0) {
      this.#reject(child.parents, child.component, "its rollouts failed");
      return false;
    }
    this.#accept(child, scores);
    return true;
  }

  #accept(candidate: Candidate, scores: Scores): void {
    const best =
      this.pool.size === 0 || [...this.pool.values()].every((other) => (pairedGain(other, scores) ?? 0) > 0);
    this.candidates.set(candidate.index, candidate);
    this.pool.set(candidate.index, scores);
    this.#options.onEvent({ type: "candidate", candidate, score: meanScore(scores) ?? null, best });
  }

  #candidate(parents: readonly number[], component: string | null, texts: Texts): Candidate {
    return { index: this.#nextIndex++, parents, component, texts };
  }

  #reject(parents: readonly number[], component: string | null, reason: string): void {
    this.#lastReason = reason;
    this.rejections[reason] = (this.rejections[reason] ?? 0) + 1;
    this.#options.onEvent({ type: "rejected", parents, component, reason });
  }

  /** Why texts cannot be a candidate. */
  #problemOf(texts: Texts, before: Texts): string | undefined {
    if ([...this.candidates.values()].some((known) => sameTexts(known.texts, texts)))
      return "the texts are known already";
    const misfit = this.#options.components.problemOf(texts);
    if (misfit !== undefined) return misfit;
    const [leak] = this.#options.leaks.find(texts, before);
    if (leak === undefined) return undefined;
    const known = this.leaks.find((other) => sameLeak(other, leak));
    if (known) known.count++;
    else this.leaks.push({ ...leak, count: 1 });
    return "it contains a gold answer";
  }

  /**
   * Runs the parent on training tasks until a minibatch of them is not passed, or twice as many tasks are run. Tasks that
   * the parent has run before come last, so that a lucky or unlucky rollout does not count again and again. If all
   * others are passed, the result is the tasks whose rollouts failed.
   */
  async #nextTasks(parent: Candidate): Promise<Task[]> {
    const { splits, random, minibatch, perfect } = this.#options;
    const known = this.#known.get(parent.index);
    const fresh = shuffle(
      splits.train.filter(({ index }) => !known?.tried.has(index)),
      random,
    );
    const open = shuffle(
      splits.train.filter(({ index }) => (known?.scores.get(index) ?? perfect) < perfect),
      random,
    );
    const chosen: Task[] = [];
    const failed: Task[] = [];
    for (const queue of [fresh, open])
      while (queue.length > 0 && failed.length < minibatch && chosen.length < 2 * minibatch) {
        const tasks = queue.splice(0, minibatch - failed.length);
        const scores = await this.#scores(parent, "train", tasks);
        chosen.push(...tasks);
        failed.push(...tasks.filter(({ index }) => (scores.get(index) ?? perfect) < perfect));
      }
    if (failed.length > 0) return chosen;
    const own = this.#known.get(parent.index);
    return (chosen.length > 0 ? chosen : splits.train).filter(({ index }) => !own?.scores.has(index));
  }

  /** The components in turn. */
  #componentOf(parent: Candidate): string {
    const names = Object.keys(parent.texts);
    const turn =
      this.#nextComponent.get(parent.index) ?? this.#nextComponent.get(parent.parents[0] ?? -1) ?? 0;
    this.#nextComponent.set(parent.index, turn + 1);
    return names[turn % names.length] as string;
  }

  /** Asks for a new text; the answer is recorded. */
  async #propose(
    parent: Candidate,
    component: string,
    tasks: readonly Task[],
  ): Promise<{ proposal: Proposal; isBroken: boolean }> {
    const { journal, used } = this.#options;
    const key = { parent: parent.index, component, tasks: tasks.map(({ index }) => index) };
    const recorded = await journal.step("proposal", key, async (): Promise<RecordedProposal> => {
      const before = used();
      const { proposal, broken } = await this.#ask(parent, component, tasks);
      const after = used();
      const tokens = after.tokens - before.tokens;
      return { ...proposal, broken, rollouts: 0, tokens, spent: after.spent - before.spent };
    });
    return { proposal: recorded, isBroken: recorded.broken };
  }

  async #ask(
    parent: Candidate,
    component: string,
    tasks: readonly Task[],
  ): Promise<{ proposal: Proposal; broken: boolean }> {
    const { proposer, ask, runner, perfect } = this.#options;
    const examples = await this.#examples(parent, tasks);
    if (examples.length === 0)
      return { proposal: { rejected: "all rollouts of the minibatch failed" }, broken: false };
    try {
      const proposal = await proposer.propose({ texts: parent.texts, component, examples, perfect }, ask);
      return { proposal, broken: false };
    } catch (error) {
      // A stopped optimization has no result; a reflection model that fails has one.
      runner.throwIfStopped();
      return { proposal: { rejected: `the reflection model failed: ${errorMessage(error)}` }, broken: true };
    }
  }

  async #examples(parent: Candidate, tasks: readonly Task[]) {
    const { runner, perfect } = this.#options;
    const known = this.#known.get(parent.index);
    const attempts = await runner.attempts(
      known?.directories ?? [],
      new Set(tasks.map(({ index }) => index)),
    );
    return tasks
      .flatMap(({ index }) => {
        const own = attempts.get(index);
        return own ? [{ reward: known?.scores.get(index) ?? 0, text: describeTask(own, perfect) }] : [];
      })
      .sort((left, right) => left.reward - right.reward);
  }

  /** The scores of a candidate on tasks. Tasks that it has run before are not run again. */
  async #scores(candidate: Candidate, split: SplitName, tasks: readonly Task[]): Promise<Scores> {
    const tried = this.#known.get(candidate.index)?.tried;
    const missing = tasks.filter(({ index }) => !tried?.has(index));
    const { repeats } = this.#options;
    if (missing.length > 0) {
      this.#require(missing.length * repeats);
      const result = await this.#batch(candidate, split, missing, repeats);
      if (result.exhausted) throw new BudgetSpent("the budget is spent");
    }
    return this.#scoresOf(candidate.index, tasks);
  }

  #scoresOf(candidate: number, tasks: readonly Task[]): Scores {
    const scores = this.#known.get(candidate)?.scores;
    return new Map(
      tasks.flatMap(({ index }) => {
        const score = scores?.get(index);
        return score === undefined ? [] : [[index, score]];
      }),
    );
  }

  async #batch(
    candidate: Candidate,
    split: SplitName,
    tasks: readonly Task[],
    repeats: number,
  ): Promise<BatchResult> {
    const { journal, runner, components, onEvent } = this.#options;
    const { index, texts, parents, component } = candidate;
    // Steps may be added before a test when the optimization is resumed with a larger budget.
    const name =
      split === "test" ? `test-c${index}` : `${String(++this.#batches).padStart(4, "0")}-c${index}-${split}`;
    const key = {
      name,
      candidate: index,
      parents,
      component,
      texts,
      split,
      tasks: tasks.map((task) => task.index),
    };
    const result = await journal.step("batch", key, async () => {
      const layer = await components.layer(texts, runner.directoryOf(name));
      return runner.run(name, { layer, tasks, repeats });
    });
    this.#lastFailure = result.failure ?? this.#lastFailure;
    const known: KnownRollouts = this.#known.get(index) ?? {
      scores: new Map(),
      tried: new Set(),
      directories: [],
    };
    this.#known.set(index, known);
    known.directories.push(result.directory);
    for (const task of tasks) known.tried.add(task.index);
    for (const [task, rewards] of Object.entries(result.rewards)) {
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      known.scores.set(Number(task), mean);
    }
    onEvent({
      type: "batch",
      candidate: index,
      split,
      score: meanScore(this.#scoresOf(index, tasks)) ?? null,
      result,
    });
    return result;
  }

  #require(rollouts: number): void {
    const { budget } = this.#options;
    if (!budget.affords(rollouts))
      throw new BudgetSpent("the rest of the budget is too small for another change and the test");
  }
}

function sameLeak(left: Leak, right: Leak): boolean {
  return left.component === right.component && left.task === right.task && left.words === right.words;
}

function allFailed(failure: string | null): Error {
  return invalid(
    `No validation rollout of the texts as they are was scored, so nothing can be improved${failure ? `: ${failure}` : "."}`,
  );
}
