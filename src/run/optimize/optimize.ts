import path from "node:path";
import { getCloseMatches } from "../../base/python/door.ts";
import type { ResolvedConfig } from "../../config/door.ts";
import { findPath, installRoot as packageRoot, searchRoots } from "../../config/paths.ts";
import { lockRun, makeOutputDirectory, OPTIMIZATION_NAME, type Row } from "../../records/files/door.ts";
import { compareRuns, type RunComparison, seededNumbers } from "../../records/metrics/door.ts";
import { runInput } from "../evaluation-input.ts";
import { readTextOverrides } from "../inputs/text-overrides.ts";
import { type ResolvedRun, type RunConfig, resolveRun } from "../run-config.ts";
import { type RunEvent, withEvents } from "../run-events.ts";
import { type BudgetUsage, OptimizeBudget } from "./budget.ts";
import { OptimizedTasks } from "./check-tasks.ts";
import { Components, invalid } from "./components.ts";
import { Journal } from "./journal.ts";
import { checkOptimizeOptions, type OptimizeOptions } from "./options.ts";
import { bestCandidate, meanScore, type Scores } from "./pareto.ts";
import { writeResult } from "./report.ts";
import type { Candidate, Rejections, Search, SearchEvent } from "./search.ts";
import {
  DEFAULT_MERGES,
  DEFAULT_MINIBATCH,
  evaluationOptions,
  Session,
  type SessionSetting,
  withValues,
} from "./session.ts";
import { digestOf, makeSplits, SPLITS, type SplitSource, type Splits } from "./splits.ts";

const DEFAULT_TASKS = 20;
const DEFAULT_ROLLOUTS = 500;

/** Events of an optimization. */
export type OptimizeEvent =
  | SearchEvent
  | { type: "status"; text: string }
  | { type: "notice"; text: string }
  | { type: "run"; event: RunEvent };

/** A candidate with its validation score. */
export interface ScoredCandidate extends Candidate {
  score: number | null;
}

export interface OptimizeResult extends BudgetUsage {
  /** Whether the test shows that the best candidate is better than the texts as they were. */
  improved: boolean;
  /** Index of the candidate with the best validation score; 0: the texts as they were. */
  best: number;
  candidates: readonly ScoredCandidate[];
  /** The paired comparison on the test split; null if no candidate is better in validation, or the budget was spent. */
  test: Pick<RunComparison, "before" | "after" | "difference" | "wins" | "losses" | "ties"> | null;
  /** Why there is no comparison on the test split although a candidate is better in validation; else null. */
  untested: string | null;
  /** Why the search ended. */
  stopped: string;
  /** Number of proposals that did not become candidates, by reason. */
  rejections: Rejections;
  /** Files of the optimization. */
  files: { config: string; report: string; lineage: string };
}

/** A running optimization. */
export interface OptimizeRun {
  /** As for `runEvaluation`. */
  readonly events: AsyncIterable<OptimizeEvent>;
  readonly result: Promise<OptimizeResult>;
}

/**
 * Improves the texts of an agent (system prompt, descriptions of tools, skills) by trying and reading rollouts, and tests
 * the best version on tasks that took no part. Can be killed at any time and resumed.
 *
 * @example
 * const { result } = optimize(config, { components: ["system_prompt"], input: "rows.jsonl", output: "runs/opt1" });
 * const { improved, test } = await result;
 */
export function optimize(config: RunConfig, options: OptimizeOptions): OptimizeRun {
  return withEvents<OptimizeResult, OptimizeEvent>((emit) => run(config, options, emit));
}

async function run(
  given: RunConfig,
  asked: OptimizeOptions,
  emit: (event: OptimizeEvent) => void,
): Promise<OptimizeResult> {
  checkOptimizeOptions(asked);
  const { env = process.env, installRoot = packageRoot(), cwd = process.cwd() } = asked;
  const { roots = searchRoots({ installRoot, env: { ...env } }) } = asked;
  const options = withAbsolutePaths(asked, { cwd, roots });
  const { output, resume = false, seed = 0, repeats = 1 } = options;
  const notice = (text: string) => emit({ type: "notice", text });
  const budgeted =
    options.maxCost === undefined ? given : await withValues(given, { max_cost: options.maxCost });
  const resolved = await resolveRun(budgeted);
  const { config } = resolved;
  const reflection = modelServer(config, options.reflectionModel ?? "policy_model");
  await makeOutputDirectory(output);
  const lineage = path.join(output, OPTIMIZATION_NAME);
  const lock = await lockRun(lineage);
  let journal: Journal | undefined;
  try {
    const random = seededNumbers(seed);
    const splits = await readSplits(resolved, options, { random, notice, roots });
    const rows = SPLITS.flatMap((split) => splits[split].map(({ row }) => row));
    const components = await Components.read(options.components, {
      rows,
      promptConfig: options.promptConfig,
      textOverrides: readTextOverrides(config.get("text_overrides")),
      config: config.toObject() as Row,
      systemPromptRole: options.systemPromptRole,
    });
    const budget = new OptimizeBudget(limitsOf(options, config), 2 * splits.test.length * repeats);
    rejectSmallBudget(budget.limits.rollouts, leastRollouts(splits, options));
    const tasks = await OptimizedTasks.open(splits, {
      resolved,
      options: evaluationOptions(options),
      ...{ output, roots, notice },
    });
    journal = await Journal.open(lineage, { resume, onUse: (result) => budget.add(result) });
    const record = journal;
    const { isResumed } = record;
    const key = startKey({ options, reflection, components, splits, settings: await tasks.settings() });
    const start = () => record.step("start", key, async () => ({}));
    // A mistake in the rows must not leave a record, which would have to be deleted.
    if (isResumed) await start();
    else await tasks.check(undefined);
    const parts = { resolved, given: budgeted, options, components, journal, reflection, budget, emit };
    const session = await Session.start({ ...parts, roots, installRoot });
    try {
      if (options.checkRows ?? true) await session.checked((client) => tasks.check(client));
      if (!isResumed) await start();
      const search = session.search(splits, random);
      const stopped = await search.run();
      if (journal.unread > 0)
        throw invalid(
          `The record has ${journal.unread} further steps: the budget was larger then. ` +
            "Resume with at least that budget, or choose another directory. No result was written.",
        );
      emit({ type: "status", text: `search ended: ${stopped}` });
      return await conclude(search, { stopped, budget, components, options });
    } finally {
      await session.close();
    }
  } finally {
    await journal?.close();
    lock.release();
  }
}

/** Tests the best candidate against the texts as they were, and writes the result. */
async function conclude(
  search: Search,
  {
    stopped,
    budget,
    components,
    options,
  }: Pick<SessionSetting, "budget" | "components" | "options"> & { stopped: string },
): Promise<OptimizeResult> {
  const { output } = options;
  const { candidates, pool, rejections, leaks } = search;
  const best = candidates.get(bestCandidate(pool)) as Candidate;
  const before = best.index === 0 ? undefined : await search.test(candidates.get(0) as Candidate);
  const after = before && (await search.test(best));
  const test = before && after ? comparison(before.scores, after.scores) : null;
  const tested = before?.result !== undefined && after?.result !== undefined;
  const { low } = test?.difference ?? {};
  const layer = await components.layer(best.texts, path.join(output, "best"));
  const files = {
    config: path.join(output, "best.yaml"),
    report: path.join(output, "report.md"),
    lineage: path.join(output, OPTIMIZATION_NAME),
  };
  const result: OptimizeResult = {
    improved: typeof low === "number" && low > 0,
    best: best.index,
    candidates: [...candidates.values()].map((each) => ({
      ...each,
      score: meanScore(pool.get(each.index) ?? new Map()) ?? null,
    })),
    test,
    untested: best.index === 0 || test ? null : untestedReason(tested, search),
    stopped,
    rejections,
    files,
    ...budget.used,
  };
  await writeResult(result, {
    layer,
    leaks,
    isComplete: [before, after].every((each) => !each?.result?.exhausted),
  });
  return result;
}

function untestedReason(tested: boolean, { failureText }: Search): string {
  return tested
    ? `no test task was scored with both texts${failureText}`
    : "the budget was spent before the test";
}

/** Pairs of tasks that both candidates completed. */
function comparison(before: Scores, after: Scores): OptimizeResult["test"] {
  const rewards = (scores: Scores) => new Map([...scores].map(([task, score]) => [task, [score]]));
  if (![...before.keys()].some((task) => after.has(task))) return null;
  const {
    before: first,
    after: second,
    difference,
    wins,
    losses,
    ties,
  } = compareRuns(rewards(before), rewards(after));
  return { before: first, after: second, difference, wins, losses, ties };
}

async function readSplits(
  { config }: ResolvedRun,
  options: OptimizeOptions,
  {
    random,
    notice,
    roots,
  }: { random: () => number; notice: (text: string) => void; roots: readonly string[] },
): Promise<Splits> {
  const {
    input,
    output,
    agent,
    signal,
    train = DEFAULT_TASKS,
    val = DEFAULT_TASKS,
    test = DEFAULT_TASKS,
  } = options;
  const located = (source: SplitSource) => (typeof source === "string" ? findPath(source, roots) : source);
  const sources = { train: located(train), val: located(val), test: located(test) };
  const needsInput = Object.values(sources).some((source) => typeof source === "number");
  const file = { output: path.join(output, "input.jsonl"), agent, roots };
  const rows = typeof input === "object" || !needsInput ? input : await runInput(config, { ...file, input });
  return makeSplits(rows, sources, { random, onNotice: notice, signal });
}

/** Files that results and later sessions refer to, from any directory. */
function withAbsolutePaths(
  options: OptimizeOptions,
  { cwd, roots }: { cwd: string; roots: readonly string[] },
): OptimizeOptions {
  const { promptConfig, skills } = options;
  const located = (file: string) => path.resolve(cwd, findPath(file, roots));
  return {
    ...options,
    output: path.resolve(cwd, options.output),
    ...(promptConfig !== undefined && { promptConfig: located(promptConfig) }),
    ...(skills !== undefined && { skills: located(skills) }),
  };
}

/** What must be the same when an optimization is resumed: all that decides its steps. The budget may differ. */
function startKey({
  options,
  reflection,
  components,
  splits,
  settings,
}: Pick<SessionSetting, "options" | "reflection" | "components"> & { splits: Splits; settings: Row }): Row {
  const { seed = 0, repeats = 1, perfectScore = 1, systemPromptRole = null } = options;
  const { minibatch = DEFAULT_MINIBATCH, maxMerges = DEFAULT_MERGES } = options;
  const { proposer = "reflect", selector = "pareto" } = options;
  const named = (strategy: unknown) => (typeof strategy === "string" ? strategy : "own");
  return {
    ...{ seed, repeats, minibatch },
    perfect_score: perfectScore,
    max_merges: maxMerges,
    system_prompt_role: systemPromptRole,
    proposer: named(proposer),
    selector: named(selector),
    reflection_model: reflection,
    texts: components.seed,
    splits: Object.fromEntries(
      SPLITS.map((split) => [split, splits[split].map(({ row }) => digestOf(row).slice(0, 16))]),
    ),
    config: settings,
  };
}

/** Rollouts of the first validation, of one change with its validation, and of the test. */
function leastRollouts(
  { val, test }: Splits,
  { repeats = 1, minibatch = DEFAULT_MINIBATCH }: OptimizeOptions,
) {
  const validation = val.length * repeats;
  return { validation, change: 4 * minibatch * repeats + validation, test: 2 * test.length * repeats };
}

function rejectSmallBudget(rollouts: number, needed: ReturnType<typeof leastRollouts>): void {
  const { validation, change, test } = needed;
  const least = validation + change + test;
  if (rollouts >= least) return;
  throw invalid(
    `${rollouts} rollouts are too few: at least ${least} are needed (${validation} for the first validation, ` +
      `${change} for one change and its validation, ${test} for the test). Raise --max-rollouts, or take fewer tasks.`,
  );
}

function limitsOf({ maxRollouts = DEFAULT_ROLLOUTS, maxTokens }: OptimizeOptions, config: ResolvedConfig) {
  const dollars = config.get("max_cost");
  return {
    rollouts: maxRollouts,
    tokens: maxTokens ?? Number.POSITIVE_INFINITY,
    dollars: dollars === undefined || dollars === null ? Number.POSITIVE_INFINITY : Number(dollars),
  };
}

function modelServer(config: ResolvedConfig, name: string): string {
  const names = config.servers
    .filter(({ type }) => type === "responses_api_models")
    .map((server) => server.name);
  if (names.includes(name)) return name;
  const [nearest] = getCloseMatches(name, names, 1);
  const hint = nearest ? `Did you mean '${nearest}'?` : `Model servers: ${names.join(", ") || "none"}.`;
  throw invalid(`The config has no model server '${name}' for the reflection model. ${hint}`);
}
