import { loads } from "../../../base/python/json/door.ts";
import { RolloutError } from "../../errors.ts";
import { artifactPaths } from "../../files/artifact-paths.ts";
import { type Row, readLineBatches } from "../../files/jsonl-rows.ts";
import { LineAccess } from "../../files/line-access.ts";
import { materializedKey } from "../../files/row-key.ts";
import { rejectOtherInputs, rejectOtherPrompt } from "../same-inputs.ts";

/** The task rows of a run, open for reading. */
export interface TaskRows {
  /** The row of a task, or the rollout if the run has no task rows. */
  rowOf(taskIndex: number, rollout: Row): Row;
  close(): void;
}

interface TaskInputsOptions {
  rolloutsPath: string;
  /** Default: the sidecar of the rollouts file, which may be absent. */
  materializedInputsPath?: string;
  signal?: AbortSignal;
}

/** The input rows of a run. Verifiers echo only part of them in their results. */
export class TaskInputs {
  readonly #options: TaskInputsOptions;
  readonly #path: string;
  /** Whether the run's files prove that the rows belong to it. */
  #areKnown = true;

  constructor(options: TaskInputsOptions) {
    this.#options = options;
    this.#path = options.materializedInputsPath ?? artifactPaths(options.rolloutsPath).materializedInputs;
  }

  /** Rejects task rows of another run. */
  async check(): Promise<void> {
    const { materializedInputsPath: inputsPath, rolloutsPath, signal } = this.#options;
    if (inputsPath !== undefined)
      this.#areKnown = await rejectOtherInputs({ inputsPath, rolloutsPath }, { signal });
  }

  /** The requested number of rollouts of each task. */
  async repeatsByTask(): Promise<Map<number, number>> {
    const repeats = new Map<number, number>();
    await this.#eachRow((taskIndex) => repeats.set(taskIndex, (repeats.get(taskIndex) ?? 0) + 1));
    return repeats;
  }

  async open(): Promise<TaskRows> {
    const offsets = new Map<number, number>();
    try {
      await this.#eachRow((taskIndex, offset) => {
        if (!offsets.has(taskIndex)) offsets.set(taskIndex, offset);
      });
    } catch (error) {
      if (!this.isAbsent(error)) throw error;
      return { rowOf: (_, rollout) => rollout, close: () => undefined };
    }
    const file = new LineAccess(this.#path);
    return {
      rowOf: (taskIndex, rollout) => {
        const offset = offsets.get(taskIndex);
        return offset === undefined ? rollout : this.#checked(loads(file.lineAt(offset)) as Row, rollout);
      },
      close: () => file.close(),
    };
  }

  /** Whether an error means that the file does not exist, and the caller did not name it. */
  isAbsent(error: unknown): boolean {
    const absent = error instanceof RolloutError && error.code === "ROLLOUT_FILE_MISSING";
    return absent && this.#options.materializedInputsPath === undefined;
  }

  /** If only the caller claims that a row belongs to the run, its prompt must be equal. */
  #checked(input: Row, rollout: Row): Row {
    const { materializedInputsPath: inputsPath, rolloutsPath } = this.#options;
    if (inputsPath !== undefined && !this.#areKnown)
      rejectOtherPrompt({ inputsPath, rolloutsPath }, input, rollout);
    return input;
  }

  async #eachRow(see: (taskIndex: number, offset: number) => void): Promise<void> {
    for await (const batch of readLineBatches(this.#path, { signal: this.#options.signal }))
      for (const line of batch) see(materializedKey(this.#path, line).taskIndex, line.offset);
  }
}
