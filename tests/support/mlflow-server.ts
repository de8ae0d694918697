import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Fault,
  FaultServer,
  Refusal,
  readBody,
  readJsonBody,
  sendBytes,
  sendJson,
} from "./fault-server.ts";

export interface MlflowServerOptions {
  token?: string;
}

interface ModelVersion {
  name: string;
  version: string;
  run_id: string;
  tags: { key: string; value: string }[];
  files: Map<string, Buffer>;
}

const PROJECT = "/api/v4/projects/17";
const API = `${PROJECT}/ml/mlflow/api/2.0/mlflow`;
const PACKAGES = `${PROJECT}/packages/ml_models`;

/** The model registry of a GitLab project with its MLflow API, in memory: models, versions, runs, artifact files. */
export class MlflowServer {
  /** Versions by model name. */
  readonly models = new Map<string, ModelVersion[]>();
  private readonly options: Required<MlflowServerOptions>;
  private readonly server: FaultServer;
  private nextRun = 1;

  constructor(options: MlflowServerOptions = {}) {
    this.options = { token: "glpat-testtoken", ...options };
    this.server = new FaultServer((request, response, url) => this.route(request, response, url));
  }

  async start(): Promise<this> {
    await this.server.start();
    return this;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** The value of `mlflow_tracking_uri`. */
  get trackingUri(): string {
    return `${this.server.url}${PROJECT}/ml/mlflow`;
  }

  get requests() {
    return this.server.requests;
  }

  fail(fault: Fault): void {
    this.server.fail(fault);
  }

  addFile(name: string, version: string, path: string, content: string | Buffer): void {
    const known =
      this.models.get(name)?.find((entry) => entry.version === version) ?? this.addVersion(name, version, []);
    known.files.set(path, Buffer.from(content));
  }

  readFile(name: string, version: string, path: string): string | undefined {
    const found = this.models.get(name)?.find((entry) => entry.version === version);
    return found?.files.get(path)?.toString("utf8");
  }

  private addVersion(name: string, version: string, tags: ModelVersion["tags"]): ModelVersion {
    const created = {
      name,
      version,
      run_id: `run-${this.nextRun++}`,
      tags,
      files: new Map<string, Buffer>(),
    };
    this.models.set(name, [...(this.models.get(name) ?? []), created]);
    return created;
  }

  private async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (request.headers.authorization !== `Bearer ${this.options.token}`) {
      throw new Refusal(401, { message: "401 Unauthorized" });
    }
    const path = decodeURIComponent(url.pathname);
    if (path.startsWith(`${PACKAGES}/`))
      return this.artifact(request, response, path.slice(PACKAGES.length + 1));
    const call = `${request.method} ${path.startsWith(`${API}/`) ? path.slice(API.length + 1) : path}`;
    sendJson(response, 200, await this.answer(call, request, url.searchParams));
  }

  private async answer(call: string, request: IncomingMessage, query: URLSearchParams): Promise<unknown> {
    switch (call) {
      case "POST registered-models/create": {
        const { name } = (await readJsonBody(request)) as { name?: string };
        if (!name) throw invalid("name is missing");
        if (this.models.has(name)) {
          throw new Refusal(400, { error_code: "RESOURCE_ALREADY_EXISTS" });
        }
        this.models.set(name, []);
        return { registered_model: { name } };
      }
      case "GET registered-models/get":
        this.model(query.get("name"));
        return { registered_model: { name: query.get("name") } };
      case "DELETE registered-models/delete": {
        const { name } = (await readJsonBody(request)) as { name?: string };
        this.model(name);
        this.models.delete(name ?? "");
        return {};
      }
      case "GET model-versions/get":
        return { model_version: this.versionView(this.version(query.get("name"), query.get("version"))) };
      case "POST model-versions/create": {
        const body = (await readJsonBody(request)) as { name?: string; tags?: ModelVersion["tags"] };
        this.model(body.name);
        const tags = body.tags ?? [];
        const version = tags.find(({ key }) => key === "gitlab.version")?.value ?? "1.0.0";
        if (!/^\d+\.\d+\.\d+$/.test(version)) throw invalid("Version must be semantic version");
        return { model_version: this.versionView(this.addVersion(body.name ?? "", version, tags)) };
      }
      case "GET runs/get":
        return { run: this.run(query.get("run_id")) };
      default:
        throw new Refusal(404, { error: "404 Not Found" });
    }
  }

  private model(name: string | null | undefined): ModelVersion[] {
    const versions = this.models.get(name ?? "");
    if (versions === undefined) throw absent();
    return versions;
  }

  private version(name: string | null, version: string | null): ModelVersion {
    const found = this.model(name).find((entry) => entry.version === version);
    if (found === undefined) throw absent();
    return found;
  }

  private versionView({ name, version, run_id, tags }: ModelVersion) {
    return { name, version, run_id, tags, current_stage: "development", status: "READY" };
  }

  private run(id: string | null) {
    const known = [...this.models.values()].flat().some(({ run_id }) => run_id === id);
    if (!known) throw absent();
    return { info: { run_id: id, run_uuid: id, artifact_uri: `${this.server.url}${PACKAGES}/${id}/files/` } };
  }

  private async artifact(request: IncomingMessage, response: ServerResponse, rest: string): Promise<void> {
    const [id, , ...path] = rest.split("/");
    const version = [...this.models.values()].flat().find(({ run_id }) => run_id === id);
    if (version === undefined) throw new Refusal(404, { message: "404 Package Not Found" });
    const name = path.join("/");
    if (request.method === "PUT") {
      const content = await readBody(request);
      if (request.headers["content-length"] !== String(content.length))
        throw new Refusal(411, { message: "length" });
      version.files.set(name, content);
      return sendJson(response, 201, { message: "201 Created" });
    }
    const content = version.files.get(name);
    if (content === undefined) throw new Refusal(404, { message: "404 File Not Found" });
    sendBytes(request, response, content, { etag: `"${id}-${content.length}-${content.at(-2) ?? 0}"` });
  }
}

function absent(): Refusal {
  return new Refusal(404, { error_code: "RESOURCE_DOES_NOT_EXIST" });
}

function invalid(message: string): Refusal {
  return new Refusal(400, { error_code: "INVALID_PARAMETER_VALUE", message });
}

/** Starts a registry on a loopback port. */
export function startMlflowServer(options: MlflowServerOptions = {}): Promise<MlflowServer> {
  return new MlflowServer(options).start();
}
