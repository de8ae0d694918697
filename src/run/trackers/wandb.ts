import { randomInt } from "node:crypto";
import { rename } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { makeDirectory } from "../../base/files/door.ts";
import { type TableFile, writeTable } from "./exported-results.ts";
import type { ExportedRun, RunExporter } from "./run-exporters.ts";
import { type WandbAccess, WandbApi, type WandbRun } from "./wandb-api.ts";
import { encodeRecord, WandbLog, type WandbRecord } from "./wandb-log.ts";

const ID_LENGTH = 8;
const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

interface WandbOptions extends ExportedRun {
  project: string;
  runName: string;
  entity?: string;
  /** Directory for runs, `<results_dir>/wandb`. */
  directory: string;
  /** Absent: the run is only written to the directory. */
  access?: WandbAccess;
  runId?: string;
}

/**
 * Exports to a run of Weights & Biases. The run is always written to a directory that `wandb sync` can upload. With a key it
 * is also sent; if that fails, the directory remains.
 */
export class WandbExporter implements RunExporter {
  readonly name = "Weights & Biases";
  readonly #options: WandbOptions;
  readonly #id: string;
  readonly #history: string[] = [];
  readonly #summary: Record<string, unknown> = {};
  #log: WandbLog | undefined;
  #records = 0;
  #api: WandbApi | undefined;
  #run: WandbRun | undefined;
  #sent = 0;

  constructor(options: WandbOptions) {
    this.#options = options;
    this.#id = options.runId ?? newRunId();
  }

  async open(signal: AbortSignal): Promise<void> {
    const { project, runName, entity, startedAt, config, access } = this.#options;
    await makeDirectory(join(this.#directory, "files"));
    this.#log = new WandbLog(join(this.#directory, `run-${this.#id}.wandb`));
    this.#write({ type: "header" });
    const run = { project, displayName: runName, entity, host: hostname(), config };
    this.#write({ type: "run", runId: this.#id, startedAt, ...run });
    if (access === undefined) return;
    this.#api = new WandbApi(access);
    await this.#online(async (api) => {
      this.#run = await api.createRun({ id: this.#id, ...run }, signal);
    });
  }

  /** Adds a step to the history. */
  async logMetrics(values: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
    const step = this.#history.length;
    const timed = { ...values, _step: step, _timestamp: Date.now() / 1000, _runtime: this.#runtime() };
    this.#write({ type: "history", step, values: timed });
    this.#history.push(JSON.stringify(timed));
    Object.assign(this.#summary, timed);
    const summary = JSON.stringify(this.#summary);
    await this.#online(async (api, run) => {
      const history = this.#history.slice(this.#sent);
      await api.stream(run, { history, offset: this.#sent, summary }, signal);
      this.#sent = this.#history.length;
    });
  }

  async logRollouts(rows: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
    const media = join(this.#directory, "files", "media", "table");
    const written = await writeTable(join(media, "Rollouts.table.json"), "Rollout", rows);
    const name = `Rollouts_${this.#history.length}_${written.sha256.slice(0, 20)}.table.json`;
    await rename(written.path, join(media, name));
    const path = `media/table/${name}`;
    this.#write({ type: "files", paths: [path] });
    await this.#online((api, run) => api.upload(run, path, join(media, name), signal));
    await this.logMetrics({ Rollouts: tableValue(written, path) }, signal);
  }

  async close(signal: AbortSignal): Promise<string | undefined> {
    const runtimeSeconds = this.#runtime();
    this.#write({ type: "summary", values: this.#summary });
    this.#write({ type: "exit", exitCode: 0, runtimeSeconds });
    this.#write({ type: "footer" });
    this.#log?.close();
    this.#log = undefined;
    await this.#online((api, run) => api.finish(run, 0, signal));
    if (!this.#api || !this.#run) return `${this.#directory} (upload it with \`wandb sync\`)`;
    // The client of the service uses this name for a run that needs no sync.
    await rename(this.#directory, this.#path("run"));
    const { entity, project, id } = this.#run;
    const site = (this.#options.access?.baseUrl ?? "").replace("//api.wandb.ai", "//wandb.ai");
    return `${site.replace(/\/+$/, "")}/${entity}/${project}/runs/${id}`;
  }

  /** Calls the service. After a failure the run is only written to the directory. */
  async #online(action: (api: WandbApi, run: WandbRun) => Promise<void>): Promise<void> {
    if (!this.#api) return;
    try {
      await action(this.#api, this.#run ?? { entity: "", project: this.#options.project, id: this.#id });
    } catch (error) {
      this.#api = undefined;
      this.#options.onWarning(
        `Weights & Biases: ${errorMessage(error)}. The run is kept in ${this.#directory}; upload it with \`wandb sync\`.`,
      );
    }
  }

  #write(record: WandbRecord): void {
    this.#log?.append(encodeRecord(record, ++this.#records));
  }

  #runtime(): number {
    return Math.max(0, Math.round((Date.now() - this.#options.startedAt.getTime()) / 1000));
  }

  get #directory(): string {
    return this.#path("offline-run");
  }

  #path(prefix: string): string {
    return join(this.#options.directory, `${prefix}-${stamp(this.#options.startedAt)}-${this.#id}`);
  }
}

function tableValue({ sha256, bytes, rows }: TableFile, path: string): object {
  return { _type: "table-file", sha256, size: bytes, path, ncols: 1, nrows: rows };
}

function newRunId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join("");
}

/** `20260131_120000`, local time. */
function stamp(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}_${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}
