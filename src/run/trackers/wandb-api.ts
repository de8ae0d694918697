import {
  callJson,
  putFile,
  RemoteError,
  type RemoteService,
  type RetryPolicy,
} from "../../data/remote/light-door.ts";
import { EXPORT_RETRIES } from "./run-exporters.ts";

const VIEWER = "query Viewer { viewer { id entity } }";

const UPSERT_RUN = `
mutation UpsertBucket($name: String, $project: String, $entity: String, $displayName: String, $config: JSONString, $host: String) {
  upsertBucket(input: {name: $name, modelName: $project, entityName: $entity, displayName: $displayName, config: $config, host: $host}) {
    bucket { id name project { name entity { name } } }
    inserted
  }
}`;

const RUN_FILES = `
mutation CreateRunFiles($entity: String!, $project: String!, $run: String!, $files: [String!]!) {
  createRunFiles(input: {entityName: $entity, projectName: $project, runName: $run, files: $files}) {
    runID
    uploadHeaders
    files { name uploadUrl }
  }
}`;

export interface WandbAccess {
  baseUrl: string;
  apiKey: string;
  entity?: string;
  retries?: RetryPolicy;
}

export interface WandbRun {
  entity: string;
  project: string;
  id: string;
}

/** The part of the HTTP API of Weights & Biases that exports a run. */
export class WandbApi {
  readonly #access: WandbAccess;
  readonly #service: RemoteService;

  constructor(access: WandbAccess) {
    this.#access = access;
    const credentials = Buffer.from(`api:${access.apiKey}`).toString("base64");
    this.#service = {
      headers: { authorization: `Basic ${credentials}`, "user-agent": "nemo-gym" },
      secrets: [access.apiKey, credentials],
      policy: access.retries ?? EXPORT_RETRIES,
    };
  }

  async createRun(
    run: {
      id: string;
      project: string;
      displayName: string;
      host: string;
      config: Readonly<Record<string, unknown>>;
    },
    signal: AbortSignal,
  ): Promise<WandbRun> {
    const entity = this.#access.entity ?? (await this.#ownEntity(signal));
    // The service expects each value of a config under the key `value`.
    const config = Object.entries(run.config).map(([key, value]) => [key, { value }]);
    const answer = (await this.#graphql(
      UPSERT_RUN,
      {
        name: run.id,
        project: run.project,
        entity,
        displayName: run.displayName,
        config: JSON.stringify(Object.fromEntries(config)),
        host: run.host,
      },
      signal,
    )) as {
      upsertBucket?: { bucket?: { name?: string; project?: { name?: string; entity?: { name?: string } } } };
    };
    const bucket = answer.upsertBucket?.bucket;
    if (!bucket) throw this.#unexpected("no run");
    return {
      id: bucket.name ?? run.id,
      project: bucket.project?.name ?? run.project,
      entity: bucket.project?.entity?.name ?? entity,
    };
  }

  /** Sends lines of the history, and the current summary. */
  async stream(
    run: WandbRun,
    files: { history: readonly string[]; offset: number; summary: string },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#fileStream(
      run,
      {
        files: {
          "wandb-history.jsonl": { offset: files.offset, content: files.history },
          "wandb-summary.json": { offset: 0, content: [files.summary] },
        },
      },
      signal,
    );
  }

  async finish(run: WandbRun, exitCode: number, signal: AbortSignal): Promise<void> {
    await this.#fileStream(run, { complete: true, exitcode: exitCode }, signal);
  }

  /** Uploads a file into the run under `name`. */
  async upload(run: WandbRun, name: string, file: string, signal: AbortSignal): Promise<void> {
    const variables = { entity: run.entity, project: run.project, run: run.id, files: [name] };
    const answer = (await this.#graphql(RUN_FILES, variables, signal)) as {
      createRunFiles?: { uploadHeaders?: string[]; files?: { name?: string; uploadUrl?: string }[] };
    };
    const created = answer.createRunFiles;
    const target = created?.files?.find((entry) => entry.name === name)?.uploadUrl;
    if (!target) throw this.#unexpected(`no address for '${name}'`);
    const headers = Object.fromEntries(
      (created?.uploadHeaders ?? []).map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      }),
    ) as Record<string, string>;
    // A self-hosted service may accept uploads itself. Other hosts must not receive the key.
    const url = new URL(target, this.#base);
    const credentials = url.origin === new URL(this.#base).origin ? this.#service.headers : {};
    await putFile({ ...this.#service, signal }, url.href, file, { headers: { ...credentials, ...headers } });
  }

  async #ownEntity(signal: AbortSignal): Promise<string> {
    const { viewer } = (await this.#graphql(VIEWER, {}, signal)) as { viewer?: { entity?: string } | null };
    if (viewer?.entity) return viewer.entity;
    const message = `${new URL(this.#base).host} does not know the API key (wandb_api_key).`;
    throw new RemoteError("REMOTE_UNAUTHORIZED", message);
  }

  #fileStream(run: WandbRun, body: unknown, signal: AbortSignal): Promise<unknown> {
    const path = [run.entity, run.project, run.id].map(encodeURIComponent).join("/");
    return callJson({ ...this.#service, signal }, "POST", `${this.#base}/files/${path}/file_stream`, body);
  }

  async #graphql(query: string, variables: object, signal: AbortSignal): Promise<unknown> {
    const url = `${this.#base}/graphql`;
    const answer = (await callJson({ ...this.#service, signal }, "POST", url, { query, variables })) as {
      data?: unknown;
      errors?: { message?: string }[];
    };
    const [error] = answer.errors ?? [];
    if (error) throw new RemoteError("REMOTE_FAILED", `${new URL(url).host}: ${error.message ?? "error"}`);
    return answer.data ?? {};
  }

  #unexpected(what: string): RemoteError {
    return new RemoteError("REMOTE_UNEXPECTED_ANSWER", `${new URL(this.#base).host} gave ${what}.`);
  }

  get #base(): string {
    return this.#access.baseUrl.replace(/\/+$/, "");
  }
}
