import { isObject, loadsPlain } from "../../base/python/json/door.ts";
import { clusteredMean, compareRuns } from "../../records/metrics/door.ts";
import { matchTasks, type RunTask, type RunTasks, type TaskMatching } from "../../records/results/door.ts";
import type { CompareAnswer, ComparedTask } from "../api-types.ts";
import { listOf, objectOf, textOf } from "../conversation/json-values.ts";
import { ViewerRequestError } from "../errors.ts";
import type { ViewedRun } from "./viewed-run.ts";

const MAX_DIFFERENCES = 500;
const MAX_SHOWN = 400;

export interface CompareRequest {
  match: TaskMatching | undefined;
  change: ComparedTask["change"] | undefined;
  offset: number;
  limit: number;
}

/** Compares the first run with each of the others, with the statistics of `gym eval compare`. */
export async function compareViewed(
  runs: readonly ViewedRun[],
  request: CompareRequest,
): Promise<CompareAnswer> {
  const [first, ...others] = runs;
  if (first === undefined || others.length === 0)
    throw new ViewerRequestError(400, "Name at least two runs to compare.");
  const before = tasksOf(first);
  const pairs: CompareAnswer["pairs"] = [];
  const joined: Joined[] = [];
  const ofBaseline = new Map<number, Joined>();
  const join = (place: number, task: number, { rewards }: RunTask, known?: Joined) => {
    const own = known ?? { means: runs.map(() => null), indices: runs.map(() => null) };
    own.means[place] = meanOf(rewards);
    own.indices[place] = task;
    if (known === undefined) joined.push(own);
    return own;
  };
  for (const [task, own] of before.tasks) ofBaseline.set(task, join(0, task, own));
  const taskLists = [before];
  for (const [place, other] of others.entries()) {
    const after = tasksOf(other);
    taskLists.push(after);
    const matched = await matchTasks(before, after, request.match ? { by: request.match } : {});
    const left = new Map<number, number[]>();
    const right = new Map<number, number[]>();
    let common = 0;
    for (const [number, task] of matched.tasks.entries()) {
      const mine = task.before === undefined ? undefined : before.tasks.get(task.before);
      const theirs = task.after === undefined ? undefined : after.tasks.get(task.after);
      if (mine) left.set(number, mine.rewards);
      if (theirs) right.set(number, theirs.rewards);
      if (mine && theirs) common++;
      if (theirs && task.after !== undefined)
        join(
          place + 1,
          task.after,
          theirs,
          task.before === undefined ? undefined : ofBaseline.get(task.before),
        );
    }
    const problem =
      common > 0
        ? null
        : `No task is common to both, matched by ${matched.by}.${matched.keptApart > 0 ? ` ${matched.keptApart} have the same index, but other ${matched.content}.` : ""}`;
    const numbers = common > 0 ? compareRuns(left, right) : undefined;
    pairs.push({
      with: other.id,
      matched_by: matched.by,
      matched_content: matched.content ?? null,
      kept_apart: matched.keptApart,
      common,
      only_before: left.size - common,
      only_after: right.size - common,
      difference: numbers?.difference ?? null,
      wins: numbers?.wins ?? 0,
      losses: numbers?.losses ?? 0,
      ties: numbers?.ties ?? 0,
      paired_t_p: numbers?.paired_t_p ?? null,
      sign_test_p: numbers?.sign_test_p ?? 1,
      permutation_p: numbers?.permutation.p ?? 1,
      problem,
    });
  }
  const tasks = joined.map(changeOf);
  tasks.sort((a, b) => Math.abs(b.difference ?? 0) - Math.abs(a.difference ?? 0) || a.task - b.task);
  const changes = { improved: 0, regressed: 0, unchanged: 0, missing: 0 };
  for (const { change } of tasks) changes[change]++;
  const chosen =
    request.change === undefined ? tasks : tasks.filter(({ change }) => change === request.change);
  const shown = chosen.slice(request.offset, request.offset + request.limit);
  for (const task of shown) {
    const place = task.indices.findIndex((index) => index !== null);
    task.prompt = await promptOf(runs[place] ?? first, taskLists[place]?.tasks.get(task.task));
  }
  return {
    runs: runs.map((run, place) => aboutRun(run, taskLists[place] ?? before)),
    pairs,
    tasks: shown,
    total: chosen.length,
    changes,
    config: differences(runs.map(({ info }) => info.config)),
    prompts: await Promise.all(runs.map((run) => systemPrompt(run))),
  };
}

type Joined = Pick<ComparedTask, "means" | "indices">;

function changeOf({ means, indices }: Joined): ComparedTask {
  const task = indices.find((index) => index !== null) ?? 0;
  const [before = null, ...others] = means;
  const known = others.filter((mean) => mean !== null);
  if (before === null || known.length === 0)
    return { task, prompt: "", means, indices, change: "missing", difference: null };
  // With several runs, the largest change relative to the first counts.
  const difference = known.map((mean) => mean - before).sort((a, b) => Math.abs(b) - Math.abs(a))[0] ?? 0;
  const change = difference > 0 ? "improved" : difference < 0 ? "regressed" : "unchanged";
  return { task, prompt: "", means, indices, change, difference };
}

function meanOf(rewards: readonly number[]): number {
  return rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}

/** The rewards of a run by task, as a comparison of files reads them, from the index. */
function tasksOf({ rollouts, coverage }: ViewedRun): RunTasks {
  const { columns } = rollouts;
  const tasks = new Map<number, RunTask>();
  const counts = { rollouts: 0, masked: 0, withoutReward: 0 };
  for (let row = 0; row < columns.length; row++) {
    const task = columns.task(row);
    if (Number.isNaN(task) || columns.failed(row)) continue;
    const reward = columns.reward(row);
    if (columns.masked(row)) counts.masked++;
    else if (Number.isNaN(reward)) counts.withoutReward++;
    else {
      counts.rollouts++;
      const known = tasks.get(task);
      if (known) known.rewards.push(reward);
      else tasks.set(task, { rewards: [reward], agent: columns.agent(row), offset: columns.offset(row) });
    }
  }
  return { path: rollouts.path, tasks, ...counts, coverage };
}

function aboutRun(run: ViewedRun, { tasks, rollouts }: RunTasks): CompareAnswer["runs"][number] {
  const rewards = [...tasks.values()].map((task) => task.rewards);
  return {
    id: run.id,
    name: run.id,
    reward: rewards.length === 0 ? null : clusteredMean(rewards),
    tasks: tasks.size,
    rollouts,
    coverage: run.coverage,
  };
}

async function promptOf({ rollouts }: ViewedRun, task: RunTask | undefined): Promise<string> {
  if (task === undefined) return "";
  const row = rowAt(rollouts.columns, task.offset);
  return row === undefined ? "" : (await rollouts.excerpts(row)).prompt;
}

/** Offsets ascend. */
function rowAt(columns: ViewedRun["rollouts"]["columns"], offset: number): number | undefined {
  let [low, high] = [0, columns.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = columns.offset(middle);
    if (found === offset) return middle;
    if (found < offset) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

const MAX_PROMPT_ROW = 4 * 1024 * 1024;

/** The instructions and the system and developer messages in the first row of the run. */
async function systemPrompt({ rollouts }: ViewedRun): Promise<string | null> {
  const { columns } = rollouts;
  if (columns.length === 0 || !columns.isReadable(0) || columns.bytes(0) > MAX_PROMPT_ROW) return null;
  const content = loadsPlain((await rollouts.read(0)).toString("utf8"), { allowNonFinite: true });
  const { input, instructions } = objectOf(objectOf(content)["responses_create_params"]);
  const texts = listOf(input)
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ content }) => textOf(content) ?? JSON.stringify(content));
  if (typeof instructions === "string") texts.unshift(instructions);
  return texts.length === 0 ? null : texts.join("\n\n");
}

/** Where the configs differ, path by path. */
export function differences(configs: readonly unknown[]): CompareAnswer["config"] {
  const flat = configs.map((config) => {
    const values = new Map<string, string>();
    flatten(config, "", values);
    return values;
  });
  const paths = [...new Set(flat.flatMap((values) => [...values.keys()]))].sort();
  return paths
    .filter((path) => new Set(flat.map((values) => values.get(path))).size > 1)
    .slice(0, MAX_DIFFERENCES)
    .map((path) => ({ path, values: flat.map((values) => values.get(path) ?? null) }));
}

function flatten(value: unknown, path: string, into: Map<string, string>): void {
  if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, member] of Object.entries(value))
      flatten(member, path === "" ? key : `${path}.${key}`, into);
    return;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  into.set(path, text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
