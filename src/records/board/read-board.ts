import { GymError } from "../../base/errors.ts";
import { isObject } from "../../base/python/json/door.ts";
import { artifactPaths } from "../files/artifact-paths.ts";
import { type FoundRun, findRuns } from "../files/find-runs.ts";
import { environmentsOfConfig, modelOfConfig, readManifestLoosely } from "../files/manifest.ts";
import { statRunFile } from "../packed/run-file.ts";
import {
  type ContentKind,
  hasInputs,
  type RunTasks,
  readRunTasks,
  taskContents,
} from "../results/run-tasks.ts";
import { type Board, type BoardRun, boardOf, groupedBy } from "./board.ts";

export interface ReadBoardOptions {
  /** Only these environments; empty means all. */
  environments?: readonly string[];
  /** Called after every run. */
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** What is known of a run that was read. */
interface ReadRun {
  found: FoundRun;
  tasks: RunTasks;
  model: string;
  when: string;
  environments: ReadonlyMap<string, string>;
}

/** The board of all finished runs in files and directories. Runs that cannot count are listed with the reason. */
export async function readBoard(given: readonly string[], options: ReadBoardOptions = {}): Promise<Board> {
  const { runs: found, others } = await findRuns(given);
  return new BoardReader().read(found, others, options);
}

/** Reads boards, and keeps the runs whose files have not changed since. */
export class BoardReader {
  readonly #known = new Map<string, { seen: string; run: ReadRun | string }>();

  async read(
    found: readonly FoundRun[],
    others: readonly string[],
    { environments = [], onProgress, signal }: ReadBoardOptions = {},
  ): Promise<Board> {
    const leftOut = others.map((path) => ({ path, reason: "its rows are not rollouts" }));
    const read: ReadRun[] = [];
    for (const [place, one] of found.entries()) {
      signal?.throwIfAborted();
      const run = await this.#run(one, signal);
      if (typeof run === "string") leftOut.push({ path: one.rollouts, reason: run });
      else read.push(run);
      onProgress?.(place + 1, found.length);
    }
    const byEnvironment = groupedBy(read.flatMap(partsOf), (part) => part.environment);
    const runs: BoardRun[] = [];
    for (const [environment, parts] of byEnvironment) {
      if (environments.length > 0 && !environments.includes(environment)) continue;
      const kind = parts.every(({ run }) => hasInputs(run.tasks)) ? "inputs" : "prompts";
      const own: BoardRun[] = [];
      for (const { run, indices } of parts) own.push(await boardRun(run, environment, indices, kind, signal));
      runs.push(...withoutCopies(own, leftOut));
    }
    return { ...boardOf(runs, leftOut), all_environments: [...byEnvironment.keys()].sort() };
  }

  /** A run that counts, or the reason why it does not. */
  async #run(found: FoundRun, signal: AbortSignal | undefined): Promise<ReadRun | string> {
    const files = artifactPaths(found.rollouts);
    const entries = await Promise.all(
      [found.rollouts, files.failures, files.manifest].map((file) =>
        statRunFile(file).catch(() => undefined),
      ),
    );
    const seen = entries.map((entry) => `${entry?.identity}:${entry?.size}:${entry?.mtimeMs}`).join();
    const known = this.#known.get(found.rollouts);
    if (known?.seen === seen) return known.run;
    const run = await readRun(found, entries[0]?.mtimeMs ?? 0, signal);
    this.#known.set(found.rollouts, { seen, run });
    return run;
  }
}

/** A copy of a run, for example a packed one beside it, is not a second run. */
function withoutCopies(runs: readonly BoardRun[], leftOut: Board["left_out"]): BoardRun[] {
  const seen = new Map<string, string>();
  return runs.filter((run) => {
    const identity = [run.model, run.when, run.tasks.length, totalOf(run)].join("\n");
    const first = seen.get(identity);
    if (first !== undefined) leftOut.push({ path: run.path, reason: `it is a copy of ${first}` });
    else seen.set(identity, run.id);
    return first === undefined;
  });
}

async function boardRun(
  { found, tasks: run, model, when }: ReadRun,
  environment: string,
  indices: readonly number[],
  kind: ContentKind,
  signal: AbortSignal | undefined,
): Promise<BoardRun> {
  const contents = await taskContents(run, kind, { signal });
  const tasks = indices.map((index) => ({
    index,
    content: contents.get(index),
    rewards: run.tasks.get(index)?.rewards ?? [],
  }));
  const isWhole = indices.length === run.tasks.size;
  return {
    id: found.id,
    path: found.rollouts,
    environment,
    model,
    when,
    tasks,
    coverage: isWhole ? run.coverage : null,
    cost: isWhole ? (run.cost ?? null) : null,
  };
}

async function readRun(
  found: FoundRun,
  writtenAt: number,
  signal: AbortSignal | undefined,
): Promise<ReadRun | string> {
  let tasks: RunTasks;
  try {
    tasks = await readRunTasks(found.rollouts, { signal });
  } catch (error) {
    if (error instanceof GymError) return error.message;
    throw error;
  }
  const { expected, missing } = tasks.coverage;
  if (tasks.tornLine !== undefined) return `it is unfinished: line ${tasks.tornLine} is incomplete`;
  if (missing > 0) return `it is unfinished: ${missing} of ${expected} rollouts are missing`;
  if (tasks.tasks.size === 0) return "no rollout has a reward";
  const manifest = await readManifestLoosely(artifactPaths(found.rollouts).manifest);
  const config = isObject(manifest["config"]) ? manifest["config"] : {};
  const created = manifest["created_at"];
  return {
    found,
    tasks,
    model: modelOfConfig(config) ?? tasks.model ?? "unknown model",
    when: typeof created === "string" ? created : new Date(writtenAt).toISOString(),
    environments: environmentsOfConfig(config),
  };
}

/** The tasks of each environment of a run: a run may have several agents. */
function partsOf(run: ReadRun): { run: ReadRun; environment: string; indices: number[] }[] {
  const parts = new Map<string, number[]>();
  for (const [index, { agent }] of run.tasks.tasks) {
    const environment = environmentOf(run, agent);
    const known = parts.get(environment);
    if (known) known.push(index);
    else parts.set(environment, [index]);
  }
  return [...parts].map(([environment, indices]) => ({ run, environment, indices }));
}

function totalOf({ tasks }: BoardRun): number {
  return tasks.reduce((sum, { rewards }) => rewards.reduce((own, reward) => own + reward, sum), 0);
}

/** Without a manifest, the agent names the environment; without an agent, the only environment of the config or the file. */
function environmentOf({ environments, found }: ReadRun, agent: string | undefined): string {
  const [only] = environments.size === 1 ? environments.values() : [];
  const name = agent === undefined ? undefined : (environments.get(agent) ?? only ?? agent);
  return name ?? only ?? found.id;
}
