import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { request } from "undici";
import { answerError, type Headers } from "../../remote/answer.ts";
import { transferDispatcher } from "../../remote/dispatcher.ts";
import { type DownloadResult, downloadFile, type TransferProgress } from "../../remote/download-file.ts";
import { RemoteError, unreachable } from "../../remote/errors.ts";
import { checkedAddress } from "../../remote/hub-access.ts";
import { type RetryPolicy, withRetries } from "../../remote/retry.ts";
import { redactMessage } from "../../secrets.ts";
import { DatasetError } from "../errors.ts";
import { refuseDirectory } from "../output-file.ts";
import { checkArtifactPath } from "./remote-names.ts";

/** How to reach the model registry of a GitLab project, which speaks MLflow's REST API. */
export interface RegistryAccess {
  /** `https://host/api/v4/projects/17/ml/mlflow`. */
  trackingUri: string;
  token: string;
  signal?: AbortSignal;
  retries?: RetryPolicy;
  onRetry?: (error: RemoteError, delayMs: number) => void;
}

export interface RegistryUpload {
  datasetName: string;
  /** `x.x.x`. */
  version: string;
  file: string;
  /** Replace a file of that name which the version already holds. */
  overwrite?: boolean;
}

export interface RegistryArtifact {
  datasetName: string;
  version: string;
  artifactPath: string;
}

/** Puts a file under its base name into a version of a dataset; dataset and version are made if need be. */
export async function uploadToRegistry(
  access: RegistryAccess,
  upload: RegistryUpload,
  onProgress?: (progress: TransferProgress) => void,
): Promise<void> {
  const { datasetName: name, version } = upload;
  const { size } = await stat(upload.file);
  await unless(isExisting, callRegistry(access, "POST", "registered-models/create", { name }));
  const run =
    (await unless(isAbsent, findRun(access, name, version))) ?? (await createVersion(access, name, version));
  const artifact = path.basename(upload.file);
  const url = `${await artifactBase(access, run)}/${encodePath(artifact)}`;
  if (!upload.overwrite && (await exists(access, url))) {
    throw new DatasetError(
      "DATASET_REMOTE_EXISTS",
      `'${artifact}' is already part of version ${version} of '${name}'. Give the changed data a new version, or replace the file with --overwrite (+overwrite=true).`,
    );
  }
  await putFile(access, url, { file: upload.file, size, onProgress });
}

/** Fetches a file of a version; see `downloadFile` for breaks and checksums. */
export async function downloadFromRegistry(
  access: RegistryAccess,
  { datasetName, version, artifactPath }: RegistryArtifact,
  destination: string,
  onProgress?: (progress: TransferProgress) => void,
): Promise<DownloadResult> {
  await refuseDirectory(destination);
  const artifact = checkArtifactPath(artifactPath.replace(/^\/+/, ""));
  const run = await unless(isAbsent, findRun(access, datasetName, version));
  if (run === undefined)
    throw absent(`The registry has no version '${version}' of a dataset '${datasetName}'.`);
  const base = await artifactBase(access, run);
  const download = downloadFile({
    url: `${base}/${encodePath(artifact)}`,
    destination,
    headers: authorization(access),
    secrets: [access.token],
    signal: access.signal,
    retries: access.retries,
    onRetry: access.onRetry,
    onProgress,
  });
  const result = await unless(isAbsent, download);
  if (result === undefined)
    throw absent(`Version ${version} of '${datasetName}' has no file '${artifactPath}'.`);
  return result;
}

function absent(message: string): DatasetError {
  return new DatasetError("DATASET_MISSING", message);
}

/** Whether the registry has a dataset of exactly this name. */
export async function isInRegistry(access: RegistryAccess, datasetName: string): Promise<boolean> {
  const query = new URLSearchParams({ name: datasetName });
  const answer = await unless(isAbsent, callRegistry(access, "GET", `registered-models/get?${query}`));
  const found = (answer as { registered_model?: { name?: unknown } } | undefined)?.registered_model?.name;
  return found === datasetName;
}

/** Deletes a dataset with all its versions. */
export async function deleteFromRegistry(access: RegistryAccess, datasetName: string): Promise<void> {
  await callRegistry(access, "DELETE", "registered-models/delete", { name: datasetName });
}

async function findRun(access: RegistryAccess, name: string, version: string): Promise<string> {
  const query = new URLSearchParams({ name, version });
  return runOf(access, await callRegistry(access, "GET", `model-versions/get?${query}`));
}

async function createVersion(access: RegistryAccess, name: string, version: string): Promise<string> {
  const body = { name, source: version, tags: [{ key: "gitlab.version", value: version }] };
  return runOf(access, await callRegistry(access, "POST", "model-versions/create", body));
}

function runOf(access: RegistryAccess, answer: unknown): string {
  const run = (answer as { model_version?: { run_id?: unknown } }).model_version?.run_id;
  if (typeof run === "string" && run !== "") return run;
  throw unexpected(access, "a model version without a run");
}

/** Where the files of a run live, without a trailing slash. */
async function artifactBase(access: RegistryAccess, run: string): Promise<string> {
  const answer = await callRegistry(access, "GET", `runs/get?${new URLSearchParams({ run_id: run })}`);
  const uri = (answer as { run?: { info?: { artifact_uri?: unknown } } }).run?.info?.artifact_uri;
  if (typeof uri !== "string") throw unexpected(access, "a run without an artifact address");
  // A plain MLflow server that hands artifacts through names them by a scheme of its own.
  const proxied = /^mlflow-artifacts:\/*(.*)$/.exec(uri)?.[1];
  const url =
    proxied === undefined ? uri : `${trackingAddress(access)}/api/2.0/mlflow-artifacts/artifacts/${proxied}`;
  if (!/^https?:\/\//.test(url))
    throw unexpected(access, `the artifact address '${uri}', which is not reachable over HTTP`);
  return url.replace(/\/+$/, "");
}

function unexpected(access: RegistryAccess, what: string): RemoteError {
  return new RemoteError("REMOTE_UNEXPECTED_ANSWER", `${new URL(access.trackingUri).host} gave ${what}.`);
}

function isExisting(error: RemoteError): boolean {
  return error.status === 409 || (error.status === 400 && /exist|taken/i.test(error.message));
}

function isAbsent(error: RemoteError): boolean {
  return error.status === 404;
}

/** The result, or undefined when it fails for a reason that is expected. */
async function unless<T>(
  isExpected: (error: RemoteError) => boolean,
  result: Promise<T>,
): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof RemoteError && isExpected(error)) return undefined;
    throw error;
  }
}

/** The configured address without trailing slashes; fails when it is not a URL. */
export function trackingAddress({ trackingUri }: Pick<RegistryAccess, "trackingUri">): string {
  return checkedAddress(
    trackingUri,
    "mlflow_tracking_uri or MLFLOW_TRACKING_URI",
    "https://<host>/api/v4/projects/<project id>/ml/mlflow",
  );
}

const authorization = (access: RegistryAccess) => ({ authorization: `Bearer ${access.token}` });
const encodePath = (file: string) => file.split("/").map(encodeURIComponent).join("/");

async function callRegistry(
  access: RegistryAccess,
  method: string,
  route: string,
  body?: unknown,
): Promise<unknown> {
  const url = `${trackingAddress(access)}/api/2.0/mlflow/${route}`;
  return withRegistryRetries(access, async () => {
    const answer = await send(access, method, url, {
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.body.text();
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      // A wrong address usually leads to a web page.
      const message = `${new URL(url).host} did not answer with JSON; is mlflow_tracking_uri right?`;
      throw new RemoteError("REMOTE_UNEXPECTED_ANSWER", message, { cause: error });
    }
  });
}

async function exists(access: RegistryAccess, url: string): Promise<boolean> {
  const found = await unless(
    isAbsent,
    withRegistryRetries(access, async () => {
      const answer = await send(access, "GET", url, { headers: { range: "bytes=0-0" } });
      answer.body.on("error", () => {}).destroy();
      return true;
    }),
  );
  return found ?? false;
}

async function putFile(
  access: RegistryAccess,
  url: string,
  {
    file,
    size,
    onProgress,
  }: { file: string; size: number; onProgress?: (progress: TransferProgress) => void },
): Promise<void> {
  await withRegistryRetries(access, async () => {
    let done = 0;
    const body = createReadStream(file);
    body.on("data", (chunk) => {
      done += chunk.length;
      onProgress?.({ done, total: size });
    });
    try {
      const answer = await send(access, "PUT", url, { headers: { "content-length": String(size) }, body });
      await answer.body.dump();
    } finally {
      body.destroy();
    }
  });
}

function withRegistryRetries<T>(access: RegistryAccess, operation: () => Promise<T>): Promise<T> {
  return withRetries(operation, { policy: access.retries, signal: access.signal, onRetry: access.onRetry });
}

/** One request with the token; a failing status or a broken connection comes as a RemoteError. */
async function send(
  access: RegistryAccess,
  method: string,
  url: string,
  { headers, body }: { headers: Record<string, string>; body?: string | Readable },
) {
  let answer: Awaited<ReturnType<typeof request>>;
  try {
    answer = await request(url, {
      method: method as "GET",
      headers: { ...headers, ...authorization(access) },
      body,
      signal: access.signal,
      dispatcher: transferDispatcher(),
    });
  } catch (error) {
    access.signal?.throwIfAborted();
    const { code, message } = unreachable(new URL(url).host, error);
    throw new RemoteError(code, redactMessage(message, [access.token]), {
      retryable: method !== "POST",
      cause: error,
    });
  }
  if (answer.statusCode < 300) return answer;
  throw await answerError(
    new URL(url).host,
    { ...answer, headers: answer.headers as Headers, body: answer.body },
    [access.token],
  );
}
