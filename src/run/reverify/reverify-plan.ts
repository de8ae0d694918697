import { existsSync } from "node:fs";
import { isObject } from "../../base/python/json/door.ts";
import { RolloutFileError, RolloutLineError } from "../../records/errors.ts";
import {
  agentNameOf,
  artifactPaths,
  type ImageForm,
  imagesOf,
  LineAccess,
  materializedKey,
  parseRow,
  type Row,
  readLineBatches,
  readRows,
  requireKey,
} from "../../records/files/door.ts";
import { GrowableDoubles, GrowableIntegers, RolloutKeyMap } from "../../records/metrics/door.ts";

export interface ReverifySources {
  materializedInputsPath: string;
  rolloutsPath: string;
  /** The manifest of the trajectories that the rollouts were made of. */
  atifManifestPath?: string;
  /** Only rollouts in the failures file whose judge could not be reached. */
  judgeFailedOnly: boolean;
  /** Largest number of rollouts. */
  limit?: number;
  signal?: AbortSignal;
}

/** A stored rollout with the input it was made from. */
export interface StoredRollout {
  taskIndex: number;
  rolloutIndex: number;
  /** The body for `/verify`: the input row with the stored response. */
  row: Row;
}

/**
 * The stored rollouts to score again, with the file positions of the rollouts and their inputs: about fifty bytes each,
 * regardless of their size. A rollout without input and a malformed line are errors with `file:line`.
 */
export class ReverifyPlan {
  /** Agents of the rollouts, in order of appearance. */
  readonly agents = new Set<string>();
  /** The file with the stored responses. */
  readonly sourcePath: string;
  readonly inputs: { rows: number; tasks: number };
  /** How the rollouts keep their images; the new ones keep them in the same way. */
  images: ImageForm = "inline";
  readonly #inputsPath: string;
  /** Zero-based line numbers of the inputs, by key. */
  readonly #inputLines: RolloutKeyMap;
  readonly #inputOffsets: GrowableDoubles;
  readonly #tasks = new GrowableDoubles();
  readonly #rollouts = new GrowableDoubles();
  readonly #offsets = new GrowableDoubles();
  readonly #lines = new GrowableIntegers();

  private constructor(sourcePath: string, inputsPath: string, index: InputIndex) {
    this.sourcePath = sourcePath;
    this.#inputsPath = inputsPath;
    this.#inputLines = index.lines;
    this.#inputOffsets = index.offsets;
    this.inputs = { rows: index.offsets.length, tasks: index.tasks };
  }

  static async make(sources: ReverifySources): Promise<ReverifyPlan> {
    const { materializedInputsPath, rolloutsPath, judgeFailedOnly, signal } = sources;
    const sourcePath = judgeFailedOnly ? artifactPaths(rolloutsPath).failures : rolloutsPath;
    if (judgeFailedOnly && !existsSync(sourcePath)) {
      throw new RolloutFileError(
        "ROLLOUT_FILE_MISSING",
        sourcePath,
        `There is no failures file '${sourcePath}' next to the rollouts: nothing to recover from.`,
      );
    }
    const index = await indexInputs(materializedInputsPath, signal);
    const plan = new ReverifyPlan(sourcePath, materializedInputsPath, index);
    const seen = judgeFailedOnly ? await rolloutKeysOf(rolloutsPath, signal) : new RolloutKeyMap();
    const limit = sources.limit ?? Number.POSITIVE_INFINITY;
    const lenient = judgeFailedOnly ? { skipBlank: true, onTornLine: () => {} } : {};
    for await (const { row, line } of readRows(sourcePath, { signal, keepReferences: true, ...lenient })) {
      if (plan.images === "inline" && imagesOf(line.text).length > 0) plan.images = "reference";
      if (plan.size >= limit) break;
      if (judgeFailedOnly && row["_ng_failure_class"] !== "judge_failed") continue;
      const { taskIndex, rolloutIndex } = requireKey(row, sourcePath, line);
      if (seen.has(taskIndex, rolloutIndex)) {
        // A judge that failed several times has several rows; one of them is enough.
        if (judgeFailedOnly) continue;
        throw lineError(sourcePath, line.number, taskIndex, rolloutIndex, "occurs twice");
      }
      seen.set(taskIndex, rolloutIndex, 0);
      if (!index.lines.has(taskIndex, rolloutIndex)) {
        const problem = `has no input in '${materializedInputsPath}'`;
        throw lineError(sourcePath, line.number, taskIndex, rolloutIndex, problem);
      }
      plan.#add(taskIndex, rolloutIndex, line.offset, line.number, agentNameOf(row));
    }
    return plan;
  }

  get size(): number {
    return this.#tasks.length;
  }

  /** The keys of the planned rollouts, in the order of the file. */
  *keys(): Generator<[taskIndex: number, rolloutIndex: number]> {
    for (let place = 0; place < this.size; place++) yield [this.#tasks.at(place), this.#rollouts.at(place)];
  }

  /** The rollouts that `wanted` accepts, read lazily. */
  *rows(wanted: (taskIndex: number, rolloutIndex: number) => boolean): Generator<StoredRollout> {
    const source = new LineAccess(this.sourcePath);
    const inputs = new LineAccess(this.#inputsPath);
    try {
      for (let place = 0; place < this.size; place++) {
        const taskIndex = this.#tasks.at(place);
        const rolloutIndex = this.#rollouts.at(place);
        if (!wanted(taskIndex, rolloutIndex)) continue;
        const inputLine = this.#inputLines.get(taskIndex, rolloutIndex) ?? 0;
        const input = rowAt(inputs, this.#inputsPath, this.#inputOffsets.at(inputLine), inputLine + 1);
        const stored = rowAt(source, this.sourcePath, this.#offsets.at(place), this.#lines.at(place));
        const { response, _ng_atif_provenance: provenance } = stored;
        const row = { ...input, response, ...(isObject(provenance) && { _ng_atif_provenance: provenance }) };
        yield { taskIndex, rolloutIndex, row };
      }
    } finally {
      source.close();
      inputs.close();
    }
  }

  #add(task: number, rollout: number, offset: number, line: number, agent: string | undefined): void {
    this.#tasks.push(task);
    this.#rollouts.push(rollout);
    this.#offsets.push(offset);
    this.#lines.push(line);
    this.agents.add(agent ?? "");
  }
}

interface InputIndex {
  lines: RolloutKeyMap;
  offsets: GrowableDoubles;
  tasks: number;
}

async function indexInputs(path: string, signal: AbortSignal | undefined): Promise<InputIndex> {
  const index: InputIndex = { lines: new RolloutKeyMap(), offsets: new GrowableDoubles(), tasks: 0 };
  const tasks = new Set<number>();
  for await (const batch of readLineBatches(path, { signal })) {
    for (const line of batch) {
      const { taskIndex, rolloutIndex } = materializedKey(path, line);
      if (index.lines.has(taskIndex, rolloutIndex))
        throw lineError(path, line.number, taskIndex, rolloutIndex, "occurs twice");
      index.lines.set(taskIndex, rolloutIndex, line.number - 1);
      index.offsets.push(line.offset);
      tasks.add(taskIndex);
    }
  }
  index.tasks = tasks.size;
  return index;
}

/** The keys of the rollouts in a file. */
export async function rolloutKeysOf(path: string, signal?: AbortSignal): Promise<RolloutKeyMap> {
  const keys = new RolloutKeyMap();
  for await (const { row, line } of readRows(path, { signal, onTornLine: () => {}, keepReferences: true })) {
    const { taskIndex, rolloutIndex } = requireKey(row, path, line);
    keys.set(taskIndex, rolloutIndex, 0);
  }
  return keys;
}

function rowAt(file: LineAccess, path: string, offset: number, number: number): Row {
  const text = file.lineAt(offset);
  return parseRow(path, { text, number, offset, byteLength: 0, terminated: true });
}

function lineError(path: string, line: number, task: number, rollout: number, problem: string) {
  return new RolloutLineError(
    "ROLLOUT_ROW_INVALID",
    path,
    line,
    `rollout ${rollout} of task ${task} ${problem}.`,
  );
}
