import type { IncomingMessage, ServerResponse } from "node:http";
import { FaultServer, Refusal, readBody, readJsonBody, sendJson } from "./fault-server.ts";

interface KnownRun {
  experiment: string;
  name: string;
  status: string;
  metrics: { key: string; value: number; timestamp: number; step: number }[];
  params: Map<string, string>;
  tags: Map<string, string>;
  artifacts: Map<string, string>;
  batches: number[];
}

const API = "/api/2.0/mlflow/";
const ARTIFACTS = "/api/2.0/mlflow-artifacts/artifacts/";

/** An MLflow tracking server in memory: experiments, runs, batches with their limits, proxied artifacts. */
export class MlflowTrackingServer extends FaultServer {
  /** Experiment ids by name. */
  readonly experiments = new Map<string, string>();
  readonly runs = new Map<string, KnownRun>();
  readonly #token: string;

  constructor(options: { token: string }) {
    super((request, response, url) => this.#route(request, response, url));
    this.#token = options.token;
  }

  async #route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (request.headers.authorization !== `Bearer ${this.#token}`)
      throw new Refusal(401, { error_code: "UNAUTHENTICATED", message: "who are you?" });
    if (request.method === "PUT" && url.pathname.startsWith(ARTIFACTS)) {
      const [id, , ...name] = url.pathname.slice(ARTIFACTS.length).split("/");
      this.#run(id).artifacts.set(name.join("/"), (await readBody(request)).toString());
      return sendJson(response, 200, {});
    }
    const body = request.method === "POST" ? await readJsonBody(request) : {};
    const call = `${request.method} ${url.pathname.slice(API.length)}`;
    sendJson(response, 200, this.#answer(call, body, url.searchParams));
  }

  #answer(call: string, body: Record<string, unknown>, query: URLSearchParams): object {
    switch (call) {
      case "GET experiments/get-by-name": {
        const id = this.experiments.get(query.get("experiment_name") ?? "");
        if (id === undefined) throw new Refusal(404, { error_code: "RESOURCE_DOES_NOT_EXIST" });
        return { experiment: { experiment_id: id } };
      }
      case "POST experiments/create": {
        const id = String(this.experiments.size + 1);
        this.experiments.set(String(body["name"]), id);
        return { experiment_id: id };
      }
      case "POST runs/create": {
        const id = `run${this.runs.size + 1}`;
        this.runs.set(id, {
          experiment: String(body["experiment_id"]),
          name: String(body["run_name"]),
          status: "RUNNING",
          metrics: [],
          params: new Map(),
          tags: new Map(),
          artifacts: new Map(),
          batches: [],
        });
        return { run: { info: { run_id: id, artifact_uri: `mlflow-artifacts:/${id}/artifacts` } } };
      }
      case "POST runs/log-batch":
        this.#logBatch(this.#run(body["run_id"]), body);
        return {};
      case "POST runs/update":
        this.#run(body["run_id"]).status = String(body["status"]);
        return {};
      default:
        throw new Refusal(404, { error_code: "ENDPOINT_NOT_FOUND" });
    }
  }

  #logBatch(run: KnownRun, body: Record<string, unknown>): void {
    const metrics = (body["metrics"] ?? []) as KnownRun["metrics"];
    const params = (body["params"] ?? []) as { key: string; value: string }[];
    const tags = (body["tags"] ?? []) as { key: string; value: string }[];
    if (metrics.length > 1000 || params.length > 100 || tags.length > 100)
      throw new Refusal(400, { error_code: "INVALID_PARAMETER_VALUE", message: "batch too large" });
    run.batches.push(metrics.length + params.length + tags.length);
    run.metrics.push(...metrics);
    for (const { key, value } of params) run.params.set(key, value);
    for (const { key, value } of tags) run.tags.set(key, value);
  }

  #run(id: unknown): KnownRun {
    const run = this.runs.get(String(id));
    if (!run) throw new Refusal(404, { error_code: "RESOURCE_DOES_NOT_EXIST" });
    return run;
  }
}
