import type { IncomingMessage, ServerResponse } from "node:http";
import { FaultServer, Refusal, readBody, readJsonBody, sendJson } from "./fault-server.ts";

interface KnownRun {
  displayName: string;
  config: Record<string, { value: unknown }>;
  history: string[];
  summary: string;
  files: Map<string, string>;
  exitCode: number | undefined;
}

/** The API of Weights & Biases for a finished run, in memory: viewer, runs, file stream, uploads. */
export class WandbServer extends FaultServer {
  /** Runs by `entity/project/id`. */
  readonly runs = new Map<string, KnownRun>();
  readonly #apiKey: string;

  constructor(options: { apiKey: string }) {
    super((request, response, url) => this.#route(request, response, url));
    this.#apiKey = options.apiKey;
  }

  async #route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const expected = `Basic ${Buffer.from(`api:${this.#apiKey}`).toString("base64")}`;
    const place = url.pathname.split("/").slice(2).map(decodeURIComponent);
    if (request.method === "PUT" && url.pathname.startsWith("/upload/")) {
      if (request.headers["x-upload"] !== "yes") throw new Refusal(403, { error: "upload header missing" });
      const [entity, project, id, ...name] = place;
      this.#run(`${entity}/${project}/${id}`).files.set(name.join("/"), (await readBody(request)).toString());
      return sendJson(response, 200, {});
    }
    if (request.headers.authorization !== expected)
      throw new Refusal(401, { error: "user is not logged in" });
    if (url.pathname === "/graphql") return sendJson(response, 200, await this.#graphql(request));
    if (url.pathname.endsWith("/file_stream")) {
      this.#stream(this.#run(place.slice(0, 3).join("/")), await readJsonBody(request));
      return sendJson(response, 200, { limits: {} });
    }
    throw new Refusal(404, { error: "not found" });
  }

  async #graphql(request: IncomingMessage): Promise<object> {
    const { query, variables } = (await readJsonBody(request)) as {
      query: string;
      variables: Record<string, string> & { files?: string[] };
    };
    if (query.includes("viewer")) return { data: { viewer: { id: "v1", entity: "ada" } } };
    const { entity, project } = variables;
    if (query.includes("upsertBucket")) {
      this.runs.set(`${entity}/${project}/${variables["name"]}`, {
        displayName: variables["displayName"] ?? "",
        config: JSON.parse(variables["config"] ?? "{}") as KnownRun["config"],
        history: [],
        summary: "",
        files: new Map(),
        exitCode: undefined,
      });
      const bucket = {
        id: "b1",
        name: variables["name"],
        project: { name: project, entity: { name: entity } },
      };
      return { data: { upsertBucket: { bucket, inserted: true } } };
    }
    if (query.includes("createRunFiles")) {
      const key = `${entity}/${project}/${variables["run"]}`;
      this.#run(key);
      const files = (variables.files ?? []).map((name) => ({
        name,
        uploadUrl: `${this.url}/upload/${key}/${name}?signature=secret`,
      }));
      return { data: { createRunFiles: { runID: "b1", uploadHeaders: ["x-upload: yes"], files } } };
    }
    return { errors: [{ message: "unknown query" }] };
  }

  #stream(run: KnownRun, body: Record<string, unknown>): void {
    const files = (body["files"] ?? {}) as Record<string, { offset: number; content: string[] } | undefined>;
    const history = files["wandb-history.jsonl"];
    if (history) {
      if (history.offset !== run.history.length) throw new Refusal(409, { error: "offset" });
      run.history.push(...history.content);
    }
    run.summary = files["wandb-summary.json"]?.content.at(-1) ?? run.summary;
    if (body["complete"] === true) run.exitCode = Number(body["exitcode"]);
  }

  #run(key: string): KnownRun {
    const run = this.runs.get(key);
    if (!run) throw new Refusal(404, { error: `no run ${key}` });
    return run;
  }
}
