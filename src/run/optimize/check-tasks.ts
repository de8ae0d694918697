import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { GymError } from "../../base/errors.ts";
import { type Row, storedConfig } from "../../records/files/door.ts";
import type { ServerClient } from "../../servers/calls/door.ts";
import { decidingConfig, eitherSignal, expandOptions } from "../evaluate.ts";
import { agentNames, citingSource, runInput } from "../evaluation-input.ts";
import { checkRows } from "../inputs/check-rows.ts";
import { type ExpandOptions, expandRows } from "../inputs/expand.ts";
import type { EvaluationOptions } from "../options.ts";
import type { ResolvedRun } from "../run-config.ts";
import { SPLITS, type Splits, type Task } from "./splits.ts";

interface TasksOptions {
  resolved: ResolvedRun;
  options: EvaluationOptions;
  /** Directory of the optimization. */
  output: string;
  roots: readonly string[];
  notice: (text: string) => void;
}

/** The rows of all splits, as the runs of batches will read them. */
export class OptimizedTasks {
  readonly #tasks: readonly Task[];
  readonly #expand: ExpandOptions;
  readonly #given: TasksOptions;

  private constructor(tasks: readonly Task[], expand: ExpandOptions, given: TasksOptions) {
    this.#tasks = tasks;
    this.#expand = expand;
    this.#given = given;
  }

  static async open(splits: Splits, given: TasksOptions): Promise<OptimizedTasks> {
    const { resolved, options, output, roots, notice } = given;
    const { config } = resolved;
    const tasks = SPLITS.flatMap((split) => splits[split]).sort((left, right) => left.index - right.index);
    const input = tasks.map(({ index, row }) => ({ ...row, _ng_task_index: index }));
    const file = await runInput(config, { input, output: path.join(output, "tasks.jsonl"), roots });
    const agents = agentNames(config);
    const expand = await expandOptions(
      { config, options, roots, agents, notice, stopping: eitherSignal(options) },
      file.path,
    );
    return new OptimizedTasks(tasks, expand, given);
  }

  /** What decides the results of rollouts: servers without ports and secrets, prompt template, skills, parameters. */
  async settings(): Promise<Row> {
    const { promptConfig } = this.#expand;
    const template = promptConfig && (await readFile(promptConfig.path, "utf8"));
    return {
      ...storedConfig(decidingConfig(this.#given.resolved.config, this.#expand)),
      ...(template !== undefined && { prompt_config_sha256: sha256(template) }),
    };
  }

  /**
   * Rejects rows that cannot become rollouts, and with a client those that the servers cannot run or score, before the
   * first rollout is paid for.
   */
  async check(client: ServerClient | undefined): Promise<void> {
    const { notice, options } = this.#given;
    const rows = expandRows(this.#expand);
    try {
      if (client === undefined) for await (const _ of rows);
      else
        await checkRows(rows, {
          client,
          expand: this.#expand,
          onNotice: notice,
          signal: eitherSignal(options),
        });
    } catch (error) {
      const sourceOf = (line?: number) =>
        line === undefined ? "the rows" : (this.#tasks[line - 1]?.source ?? `row ${line}`);
      throw error instanceof GymError
        ? citingSource(error, { path: this.#expand.inputPath, sourceOf })
        : error;
    }
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
