import { stat } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type CommitOutput, commitIter, createRepo, type ListFileEntry, listFiles } from "@huggingface/hub";
import { rejectDirectory } from "../output-file.ts";
import { checksumOfFile } from "../remote/checksum.ts";
import { type DownloadResult, downloadFile, type TransferProgress } from "../remote/download-file.ts";
import { aboutSubject, RemoteError } from "../remote/errors.ts";
import { callHub, type HubAccess, hubHeaders, hubJson, hubParams, hubUrl } from "../remote/hub-access.ts";
import { checkArtifactPath, checkRepositoryId } from "./remote-names.ts";

export interface HubUpload {
  /** `organization/name`. */
  repository: string;
  /** The id of the collection for the repository. */
  collection: string;
  file: string;
  /** Branch. Default: `main`. */
  revision?: string;
  createPullRequest?: boolean;
  commitMessage?: string;
  commitDescription?: string;
}

export type HubUploadEvent =
  | { event: "repository-created" | "repository-found"; repository: string }
  | { event: "repository-rejected"; message: string }
  | { event: "collection-joined" | "collection-joined-before"; collection: string }
  | { event: "upload-start"; file: string; bytes: number; replaces: boolean }
  | { event: "upload-progress"; file: string; done: number; total: number };

export interface HubUploadResult {
  repositoryUrl: string;
  /** False if the hub already had this file. */
  uploaded: boolean;
  commitUrl?: string;
  pullRequestUrl?: string;
}

type OnUploadEvent = (event: HubUploadEvent) => void;

/**
 * Uploads a file to a private dataset repository and adds the repository to a collection. Creates the repository if it does
 * not exist. Skips a file that the repository already has with the same content.
 */
export async function uploadToHub(
  access: HubAccess,
  upload: HubUpload,
  onEvent: OnUploadEvent = () => {},
): Promise<HubUploadResult> {
  checkRepositoryId(upload.repository);
  const { size } = await stat(upload.file);
  // Read first, so that no repository is created if the collection has a wrong name.
  const members = await readCollection(access, upload.collection);
  try {
    return await uploadFile(access, upload, { size, members }, onEvent);
  } catch (error) {
    throw aboutSubject(error, `repository '${upload.repository}'`);
  }
}

async function uploadFile(
  access: HubAccess,
  upload: HubUpload,
  { size, members }: { size: number; members: ReadonlySet<string> },
  onEvent: OnUploadEvent,
): Promise<HubUploadResult> {
  const name = path.basename(upload.file);
  await createRepository(access, upload, onEvent);
  await joinCollection(access, upload, members, onEvent);
  const repositoryUrl = `${hubUrl(access)}/datasets/${upload.repository}`;
  const existing = await remoteFile(access, upload, name);
  if (existing !== undefined && (await sameContent(upload.file, size, existing))) {
    return { repositoryUrl, uploaded: false };
  }
  onEvent({ event: "upload-start", file: name, bytes: size, replaces: existing !== undefined });
  const output = await commitFile(access, upload, { name, size }, onEvent);
  return {
    repositoryUrl,
    uploaded: true,
    commitUrl: output?.commit.url,
    pullRequestUrl: output?.pullRequestUrl,
  };
}

async function createRepository(access: HubAccess, upload: HubUpload, onEvent: OnUploadEvent): Promise<void> {
  const { repository } = upload;
  const params = { ...hubParams(access), accessToken: access.token ?? "" };
  try {
    await callHub(access, () =>
      createRepo({ ...params, repo: { type: "dataset", name: repository }, visibility: "private" }),
    );
    onEvent({ event: "repository-created", repository });
  } catch (error) {
    const status = error instanceof RemoteError ? error.status : undefined;
    if (status === 409) onEvent({ event: "repository-found", repository });
    // Without permission to create a repository, a user can still open a pull request on an existing one.
    else if (error instanceof RemoteError && status === 403 && upload.createPullRequest) {
      onEvent({ event: "repository-rejected", message: error.message });
    } else throw error;
  }
}

/** The ids of the items of a collection, in lower case; the hub ignores case. */
async function readCollection(access: HubAccess, collection: string): Promise<ReadonlySet<string>> {
  try {
    const known = (await hubJson(access, `/api/collections/${collectionPath(collection)}`)) as {
      items?: { id?: string }[];
    };
    return new Set(known.items?.map(({ id }) => String(id).toLowerCase()));
  } catch (error) {
    throw aboutSubject(error, `collection '${collection}'`);
  }
}

const collectionPath = (collection: string) => collection.split("/").map(encodeURIComponent).join("/");

async function joinCollection(
  access: HubAccess,
  { collection, repository }: HubUpload,
  members: ReadonlySet<string>,
  onEvent: OnUploadEvent,
): Promise<void> {
  let isIn = members.has(repository.toLowerCase());
  if (!isIn) {
    const item = { type: "dataset", id: repository };
    try {
      await hubJson(access, `/api/collections/${collectionPath(collection)}/items`, { item });
    } catch (error) {
      // Another client added it, or the response to an earlier attempt was lost.
      if (!(error instanceof RemoteError) || error.status !== 409) throw error;
      isIn = true;
    }
  }
  onEvent({ event: isIn ? "collection-joined-before" : "collection-joined", collection });
}

async function remoteFile(
  access: HubAccess,
  upload: HubUpload,
  name: string,
): Promise<ListFileEntry | undefined> {
  return callHub(access, async () => {
    const listing = listFiles({
      ...hubParams(access),
      repo: { type: "dataset", name: upload.repository },
      revision: encodeURIComponent(upload.revision ?? "main"),
    });
    for await (const entry of listing) if (entry.path === name) return entry;
    return undefined;
  });
}

async function sameContent(file: string, size: number, remote: ListFileEntry): Promise<boolean> {
  if (remote.size !== size) return false;
  return remote.lfs === undefined
    ? (await checksumOfFile(file, "git-blob")) === remote.oid
    : (await checksumOfFile(file, "sha256")) === remote.lfs.oid;
}

async function commitFile(
  access: HubAccess,
  upload: HubUpload,
  { name, size }: { name: string; size: number },
  onEvent: OnUploadEvent,
): Promise<CommitOutput | undefined> {
  let sent = 0;
  const onSent = (bytes: number) => {
    sent += bytes;
    onEvent({ event: "upload-progress", file: name, done: Math.min(sent, size), total: size });
  };
  return callHub(access, async () => {
    const steps = commitIter({
      ...hubParams(access, onSent),
      repo: { type: "dataset", name: upload.repository },
      operations: [
        { operation: "addOrUpdate", path: name, content: pathToFileURL(path.resolve(upload.file)) },
      ],
      title: upload.commitMessage ?? `Upload ${name}`,
      description: upload.commitDescription,
      branch: upload.revision,
      isPullRequest: upload.createPullRequest,
      abortSignal: access.signal,
    });
    let step = await steps.next();
    while (!step.done) step = await steps.next();
    onEvent({ event: "upload-progress", file: name, done: size, total: size });
    return step.value;
  });
}

export interface HubArtifact {
  /** `organization/name`. */
  repository: string;
  /** The path of the file in the repository. */
  path: string;
  revision?: string;
}

/** Downloads one file of a dataset repository. See `downloadFile` for interruptions and checksums. */
export async function downloadHubFile(
  access: HubAccess,
  { repository, path: artifact, revision = "main" }: HubArtifact,
  destination: string,
  onProgress?: (progress: TransferProgress) => void,
): Promise<DownloadResult> {
  checkRepositoryId(repository);
  const file = checkArtifactPath(artifact).split("/").map(encodeURIComponent).join("/");
  const url = `${hubUrl(access)}/datasets/${repository}/resolve/${encodeURIComponent(revision)}/${file}`;
  try {
    return await downloadHubUrl(access, url, { destination, onProgress });
  } catch (error) {
    throw aboutSubject(error, `'${artifact}' of '${repository}' at '${revision}'`);
  }
}

/** Downloads a URL of the hub. The token is sent only to the hub itself. */
export async function downloadHubUrl(
  access: HubAccess,
  url: string,
  target: { destination: string; onProgress?: (progress: TransferProgress) => void },
): Promise<DownloadResult> {
  await rejectDirectory(target.destination);
  const own = new URL(url).origin === new URL(hubUrl(access)).origin;
  return downloadFile({
    ...target,
    url,
    headers: own ? hubHeaders(access) : {},
    secrets: [access.token],
    etagIsAddress: true,
    signal: access.signal,
    retries: access.retries,
    onRetry: access.onRetry,
  });
}
