import { stat } from "node:fs/promises";
import path from "node:path";
import { findPath } from "../../config/paths.ts";
import { DatasetError } from "../../data/errors.ts";
import {
  checkRepositoryId,
  collectionId,
  domainOfConfig,
  type HubUploadEvent,
  type HubUploadResult,
  repositoryName,
  resourcesServerOfPath,
  uploadToHub,
  uploadToRegistry,
} from "../../data/hub/door.ts";
import { checkTrainingRows } from "../../data/light-door.ts";
import { hubUrl } from "../../data/remote/door.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { CommandKeysError } from "../errors.ts";
import { requireInputFile, withFileErrors } from "../files.ts";
import { type ByteProgress, withByteProgress } from "../render/progress.ts";
import { hubAccessOf, requireRegistry } from "./access.ts";
import { hubUploadKeys, registryUploadKeys } from "./keys.ts";
import { deleteDataset } from "./remove.ts";

type HubKeys = KeyValues<typeof hubUploadKeys>;

/** `gym dataset upload`. */
export async function uploadToHuggingFace(context: CommandContext, yes: boolean): Promise<number> {
  const keys = readHubKeys(await context.resolve());
  return withFileErrors(async () => {
    const datasetName = await upload(context, keys);
    if (keys.delete_from_gitlab)
      await deleteDataset(context, requireRegistry(keys, context), datasetName, yes);
    return 0;
  });
}

/** `gym dataset migrate`: uploads to the hub, then deletes from the registry. */
export async function migrate(context: CommandContext, yes: boolean): Promise<number> {
  const config = await context.resolve();
  if (config.get("delete_from_gitlab") != null) {
    throw new CommandKeysError(
      "invalid configuration: delete_from_gitlab (not allowed here: migrate always deletes).",
    );
  }
  const keys = readHubKeys(config);
  return withFileErrors(async () => {
    const registry = requireRegistry(keys, context);
    await deleteDataset(context, registry, await upload(context, keys), yes);
    return 0;
  });
}

function readHubKeys(config: { get(path: string): unknown }): HubKeys {
  try {
    return readKeys(hubUploadKeys, config);
  } catch (error) {
    if (!(error instanceof CommandKeysError) || !/missing [^.]*\bhf_/.test(error.message)) throw error;
    throw new CommandKeysError(
      `${error.message} Keys that begin with hf_ have no flag: put them into env.yaml.`,
    );
  }
}

/** Uploads the file and returns the name of the dataset. */
async function upload(context: CommandContext, keys: HubKeys): Promise<string> {
  const access = hubAccessOf(keys, context);
  if (access.token === undefined) {
    throw new CommandKeysError(
      "missing required configuration: hf_token. Put it into env.yaml, or set HF_TOKEN in the environment.",
    );
  }
  const file = await filledInput(context, keys.input_jsonl_fpath);
  const resourcesServer = resourcesServerOfPath(keys.resource_config_path);
  const datasetName = keys.dataset_name ?? resourcesServer;
  if (datasetName === undefined) {
    const message = `'${keys.resource_config_path}' does not name a resources server (resources_servers/<name>/…); give --name.`;
    throw new DatasetError("DATASET_ARGUMENTS_INVALID", message);
  }
  const domain = await domainOfConfig(findPath(keys.resource_config_path, context.roots));
  const organization = keys.hf_organization;
  const repository = checkRepositoryId(
    repositoryName({ organization, datasetName, domain, prefix: keys.hf_dataset_prefix }),
  );
  hubUrl(access);
  if (keys.split === "train") await checkTrainingRows(file, context.signal);
  const collection = collectionId(organization, keys.hf_collection_name, keys.hf_collection_slug);
  const say = context.json ? () => {} : context.out;
  const request = {
    repository,
    collection,
    file,
    revision: keys.revision,
    createPullRequest: keys.create_pr,
    commitMessage: keys.commit_message,
    commitDescription: keys.commit_description,
  };
  const result = await withByteProgress(context, (progress) =>
    uploadToHub(access, request, (event) => showEvent(event, progress, say)),
  );
  if (context.json) context.out(JSON.stringify({ repository, collection, ...uploadJson(result) }));
  else for (const line of summary(keys.input_jsonl_fpath, result)) say(line);
  return datasetName;
}

/** The file to upload; an empty file is rejected here, because the hub's error would be unclear. */
async function filledInput(context: CommandContext, name: string): Promise<string> {
  const file = await requireInputFile(context, name, "--input");
  if ((await stat(file)).size > 0) return file;
  throw new DatasetError("DATASET_FILE", `'${name}' (--input) is empty. Nothing was uploaded.`);
}

function showEvent(event: HubUploadEvent, progress: ByteProgress, say: (line: string) => void): void {
  if (event.event === "upload-progress") progress.update(`Uploading ${event.file}`, event.done, event.total);
  else {
    progress.clear();
    say(eventText(event));
  }
}

function eventText(event: Exclude<HubUploadEvent, { event: "upload-progress" }>): string {
  switch (event.event) {
    case "repository-created":
      return `Created the private repository ${event.repository}.`;
    case "repository-found":
      return `The repository ${event.repository} exists.`;
    case "repository-rejected":
      return `The repository could not be created (${event.message}); continuing with the pull request.`;
    case "collection-joined":
      return `Added it to the collection ${event.collection}.`;
    case "collection-joined-before":
      return `It is in the collection ${event.collection} already.`;
    case "upload-start":
      return `Uploading ${event.file} (${event.bytes} bytes)${event.replaces ? ", replacing the file there" : ""}.`;
  }
}

function summary(input: string, result: HubUploadResult): string[] {
  if (!result.uploaded) return [`${input} already exists with the same content: ${result.repositoryUrl}`];
  return [
    `Uploaded ${input} to ${result.repositoryUrl}`,
    ...(result.pullRequestUrl === undefined ? [] : [`Pull request: ${result.pullRequestUrl}`]),
  ];
}

function uploadJson({ repositoryUrl, uploaded, commitUrl, pullRequestUrl }: HubUploadResult) {
  return { repository_url: repositoryUrl, uploaded, commit_url: commitUrl, pull_request_url: pullRequestUrl };
}

/** `gym dataset upload --storage gitlab`. */
export async function uploadToGitlab(context: CommandContext): Promise<number> {
  const keys = readKeys(registryUploadKeys, await context.resolve());
  const { dataset_name: datasetName, version, input_jsonl_fpath: input } = keys;
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new CommandKeysError(`version is '${version}'; it must be three numbers (x.x.x), such as 0.0.1.`);
  return withFileErrors(async () => {
    const access = requireRegistry(keys, context);
    const file = await filledInput(context, input);
    const request = { datasetName, version, file, overwrite: keys.overwrite };
    await withByteProgress(context, (progress) =>
      uploadToRegistry(access, request, ({ done, total }) =>
        progress.update(`Uploading ${input}`, done, total),
      ),
    );
    const artifact = path.basename(file);
    if (context.json)
      context.out(JSON.stringify({ dataset_name: datasetName, version, artifact_fpath: artifact }));
    else {
      context.out(`Uploaded ${input} as ${artifact} of ${datasetName} ${version}. Download it with:`);
      context.out(
        `gym dataset download --storage gitlab --name ${datasetName} --revision ${version} --artifact ${artifact} --output ${input}`,
      );
    }
    return 0;
  });
}
