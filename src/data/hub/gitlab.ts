import { stat } from "node:fs/promises";
import path from "node:path";
import { DatasetError } from "../errors.ts";
import { rejectDirectory } from "../output-file.ts";
import { type DownloadResult, downloadFile, type TransferProgress } from "../remote/download-file.ts";
import { RemoteError } from "../remote/errors.ts";
import { checkedAddress } from "../remote/hub-access.ts";
import { type RetryPolicy, withRetries } from "../remote/retry.ts";
import { callJson, putFile, type RemoteService, sendOnce } from "../remote/service.ts";
import { checkArtifactPath } from "./remote-names.ts";

/** Access to the model registry of a GitLab project, which has the REST API of MLflow. */
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
  /** Replace an existing file with that name. */
  overwrite?: boolean;
}

export interface RegistryArtifact {
  datasetName: string;
  version: string;
  artifactPath: string;
}

/** Uploads a file to a version of a dataset. Creates the dataset and the version if they do not exist. */
export async function uploadToRegistry(
  access: RegistryAccess,
  upload: RegistryUpload,
  onProgress?: (progress: TransferProgress) => void,
): Promise<void> {
  const { datasetName: name, version } = upload;
  // Fails for a missing file before anything is created.
  await stat(upload.file);
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
  await putFile(serviceOf(access), url, upload.file, { onProgress });
}

/** Downloads a file of a version. See `downloadFile` for interruptions and checksums. */
export async function downloadFromRegistry(
  access: RegistryAccess,
  { datasetName, version, artifactPath }: RegistryArtifact,
  destination: string,
  onProgress?: (progress: TransferProgress) => void,
): Promise<DownloadResult> {
  await rejectDirectory(destination);
  const artifact = checkArtifactPath(artifactPath.replace(/^\/+/, ""));
  const run = await unless(isAbsent, findRun(access, datasetName, version));
  if (run === undefined)
    throw absent(`The registry has no version '${version}' of a dataset '${datasetName}'.`);
  const base = await artifactBase(access, run);
  const download = downloadFile({
    url: `${base}/${encodePath(artifact)}`,
    destination,
    headers: serviceOf(access).headers,
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

/** The address of the files of a run, without a trailing slash. */
async function artifactBase(access: RegistryAccess, run: string): Promise<string> {
  const answer = await callRegistry(access, "GET", `runs/get?${new URLSearchParams({ run_id: run })}`);
  const uri = (answer as { run?: { info?: { artifact_uri?: unknown } } }).run?.info?.artifact_uri;
  if (typeof uri !== "string") throw unexpected(access, "a run without an artifact address");
  // A plain MLflow server that proxies artifacts uses its own URL scheme.
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

/** The result, or undefined if it fails with an expected error. */
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

/** The configured address without trailing slashes. Fails if it is not a URL. */
export function trackingAddress({ trackingUri }: Pick<RegistryAccess, "trackingUri">): string {
  return checkedAddress(
    trackingUri,
    "mlflow_tracking_uri or MLFLOW_TRACKING_URI",
    "https://<host>/api/v4/projects/<project id>/ml/mlflow",
  );
}

function serviceOf({ token, signal, retries: policy, onRetry }: RegistryAccess): RemoteService {
  return {
    headers: { authorization: `Bearer ${token}` },
    secrets: [token],
    addressKey: "mlflow_tracking_uri",
    postsOnce: true,
    policy,
    signal,
    onRetry,
  };
}

const encodePath = (file: string) => file.split("/").map(encodeURIComponent).join("/");

function callRegistry(
  access: RegistryAccess,
  method: "GET" | "POST" | "DELETE",
  route: string,
  body?: unknown,
): Promise<unknown> {
  return callJson(serviceOf(access), method, `${trackingAddress(access)}/api/2.0/mlflow/${route}`, body);
}

async function exists(access: RegistryAccess, url: string): Promise<boolean> {
  const service = serviceOf(access);
  const headers = { ...service.headers, range: "bytes=0-0" };
  const found = await unless(
    isAbsent,
    withRetries(async () => {
      const answer = await sendOnce(service, "GET", url, { headers });
      answer.body.on("error", () => {}).destroy();
      return true;
    }, service),
  );
  return found ?? false;
}
