import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withTemporaryDirectory } from "../../base/files/door.ts";
import { pyStr } from "../../base/python/door.ts";
import { dumps, isObject } from "../../base/python/json/door.ts";
import {
  callJson,
  putFile,
  RemoteError,
  type RemoteService,
  type RetryPolicy,
} from "../../data/remote/light-door.ts";
import { writeTable } from "./exported-results.ts";
import { EXPORT_RETRIES, type ExportedRun, type MetricValues, type RunExporter } from "./run-exporters.ts";

const METRICS_PER_BATCH = 1_000;
const ENTRIES_PER_BATCH = 100;
/** Limits of the service for the length of values. */
const MAX_PARAM = 6_000;
const MAX_TAG = 5_000;

interface MlflowOptions extends ExportedRun {
  trackingUri: string;
  experimentName: string;
  runName: string;
  token?: string;
  retries?: RetryPolicy;
}

interface Entry {
  key: string;
  value: string;
}

/** Exports to an MLflow run over the REST API. */
export class MlflowExporter implements RunExporter {
  readonly name = "MLflow";
  readonly #options: MlflowOptions;
  readonly #service: RemoteService;
  #run: { id: string; experiment: string; artifacts: string } | undefined;

  constructor(options: MlflowOptions) {
    this.#options = options;
    this.#service = {
      headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
      secrets: [options.token],
      policy: options.retries ?? EXPORT_RETRIES,
    };
  }

  async open(signal: AbortSignal): Promise<void> {
    const { runName, startedAt, config } = this.#options;
    const experiment = await this.#experiment(signal);
    const answer = await this.#call("POST", "runs/create", signal, {
      experiment_id: experiment,
      run_name: runName,
      start_time: startedAt.getTime(),
      tags: [{ key: "mlflow.runName", value: runName }],
    });
    const { info } = (answer as { run?: { info?: { run_id?: unknown; artifact_uri?: unknown } } }).run ?? {};
    if (typeof info?.run_id !== "string") throw this.#unexpected("a run without an id");
    this.#run = { id: info.run_id, experiment, artifacts: String(info.artifact_uri ?? "") };
    await this.#logConfig(config, signal);
  }

  async logMetrics(metrics: MetricValues, signal: AbortSignal): Promise<void> {
    const timestamp = Date.now();
    const values: { key: string; value: number | string; timestamp: number; step: number }[] = [];
    const tags: Entry[] = [];
    for (const [name, value] of Object.entries(metrics)) {
      if (value === null) continue;
      const key = this.#named(name);
      if (key === undefined) continue;
      if (typeof value === "string") tags.push({ key, value: value.slice(0, MAX_TAG) });
      else values.push({ key, value: jsonNumber(Number(value)), timestamp, step: 0 });
    }
    for (const part of batches(values, METRICS_PER_BATCH)) await this.#logBatch({ metrics: part }, signal);
    for (const part of batches(tags, ENTRIES_PER_BATCH)) await this.#logBatch({ tags: part }, signal);
  }

  async logRollouts(rows: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
    await withTemporaryDirectory("gym-mlflow-", async (directory) => {
      const table = await writeTable(join(directory, "rollouts.json"), "Rollout", rows);
      await this.#putArtifact(table.path, "rollouts.json", signal);
    });
    // The web page of MLflow shows the files in this tag as tables.
    const logged = JSON.stringify([{ path: "rollouts.json", type: "table" }]);
    await this.#logBatch({ tags: [{ key: "mlflow.loggedArtifacts", value: logged }] }, signal);
  }

  async close(signal: AbortSignal): Promise<string | undefined> {
    const { id, experiment } = this.#opened();
    await this.#call("POST", "runs/update", signal, {
      run_id: id,
      status: "FINISHED",
      end_time: Date.now(),
    });
    return `${this.#base}/#/experiments/${experiment}/runs/${id}`;
  }

  /** The id of the experiment with the configured name. A missing experiment is created. */
  async #experiment(signal: AbortSignal): Promise<string> {
    const { experimentName: name } = this.#options;
    const query = new URLSearchParams({ experiment_name: name });
    try {
      const answer = await this.#call("GET", `experiments/get-by-name?${query}`, signal);
      const id = (answer as { experiment?: { experiment_id?: unknown } }).experiment?.experiment_id;
      if (typeof id === "string") return id;
    } catch (error) {
      if (!(error instanceof RemoteError && error.status === 404)) throw error;
    }
    const answer = await this.#call("POST", "experiments/create", signal, { name });
    const id = (answer as { experiment_id?: unknown }).experiment_id;
    if (typeof id !== "string") throw this.#unexpected("an experiment without an id");
    return id;
  }

  async #logConfig(config: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const params = new Map<string, string>();
    for (const [path, leaf] of flattened(config)) {
      const key = this.#named(path);
      if (key !== undefined && !params.has(key)) params.set(key, pyStr(leaf).slice(0, MAX_PARAM));
    }
    const entries = [...params].map(([key, value]) => ({ key, value }));
    for (const part of batches(entries, ENTRIES_PER_BATCH)) await this.#logBatch({ params: part }, signal);
    await withTemporaryDirectory("gym-mlflow-", async (directory) => {
      const file = join(directory, "global_config.json");
      await writeFile(file, dumps(config, { indent: 2, ensureAscii: false }));
      await this.#putArtifact(file, "global_config.json", signal);
    });
  }

  #logBatch(batch: { metrics?: unknown[]; params?: Entry[]; tags?: Entry[] }, signal: AbortSignal) {
    return this.#call("POST", "runs/log-batch", signal, { run_id: this.#opened().id, ...batch });
  }

  async #putArtifact(file: string, name: string, signal: AbortSignal): Promise<void> {
    const { artifacts } = this.#opened();
    // A server that proxies artifacts uses this scheme.
    const proxied = /^mlflow-artifacts:\/*(.*)$/.exec(artifacts)?.[1];
    const base =
      proxied === undefined
        ? artifacts.replace(/\/+$/, "")
        : `${this.#base}/api/2.0/mlflow-artifacts/artifacts/${proxied}`;
    if (!/^https?:\/\//.test(base)) {
      this.#options.onWarning(
        `MLflow: ${name} was not uploaded: the server keeps artifacts at '${artifacts}', which cannot be reached over HTTP.`,
      );
      return;
    }
    const headers = { ...this.#service.headers, "content-type": "application/octet-stream" };
    await putFile({ ...this.#service, signal }, `${base}/${name}`, file, { headers });
  }

  #named(name: string): string | undefined {
    const key = mlflowName(name);
    if (key === undefined)
      this.#options.onWarning(`MLflow: '${name}' is not a valid name for MLflow: left out.`);
    return key;
  }

  #opened() {
    if (!this.#run) throw this.#unexpected("no run");
    return this.#run;
  }

  get #base(): string {
    return this.#options.trackingUri.replace(/\/+$/, "");
  }

  #call(method: "GET" | "POST", route: string, signal: AbortSignal, body?: unknown): Promise<unknown> {
    return callJson({ ...this.#service, signal }, method, `${this.#base}/api/2.0/mlflow/${route}`, body);
  }

  #unexpected(what: string): RemoteError {
    return new RemoteError("REMOTE_UNEXPECTED_ANSWER", `${new URL(this.#base).host} gave ${what}.`);
  }
}

/** JSON has no NaN and no infinity; the service accepts them as texts. */
function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function* batches<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

const MAX_NAME = 250;
const GAP = "___";

/** A name that MLflow accepts for a metric, parameter or tag; undefined if no characters remain. */
export function mlflowName(name: string): string | undefined {
  const allowed = name.replaceAll("@", "_at_").replace(/[^\p{L}\p{N}_/.\-: ]/gu, "_");
  const segments = allowed
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => (/^\.+$/.test(segment) ? "_".repeat(segment.length) : segment));
  const joined = segments.join("/").replace(/^\.+/, (dots) => "_".repeat(dots.length));
  if (joined === "") return undefined;
  if (joined.length <= MAX_NAME) return joined;
  const kept = MAX_NAME - GAP.length;
  const tail = Math.floor(kept / 2);
  return `${joined.slice(0, kept - tail)}${GAP}${joined.slice(joined.length - tail)}`;
}

/** The leaves of a config with their paths, such as `a.b[0].c`. */
export function* flattened(value: unknown, path = ""): Generator<[path: string, leaf: unknown]> {
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) yield* flattened(item, `${path}[${index}]`);
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, member] of Object.entries(value))
      yield* flattened(member, path === "" ? key : `${path}.${key}`);
  } else if (path !== "") yield [path, value];
}
