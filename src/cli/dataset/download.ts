import path from "node:path";
import {
  checkArtifactPath,
  checkRepositoryId,
  downloadFromRegistry,
  downloadHubFile,
  downloadHubSplit,
  downloadHubSplits,
} from "../../data/hub/door.ts";
import { type DownloadResult, type HubAccess, hubUrl } from "../../data/remote/door.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { CommandKeysError } from "../errors.ts";
import { outputFile, relativePath, withFileErrors } from "../files.ts";
import { type ByteProgress, withByteProgress } from "../render/progress.ts";
import { hubAccessOf, requireRegistry } from "./access.ts";
import { hubDownloadKeys, registryDownloadKeys } from "./keys.ts";

type HubKeys = KeyValues<typeof hubDownloadKeys>;

/** One written file, with `rows` if it was converted from a split. */
interface Fetched {
  file: string;
  rows?: number;
  result?: DownloadResult;
}

/** `gym dataset download`. */
export async function downloadFromHuggingFace(context: CommandContext): Promise<number> {
  const keys = readKeys(hubDownloadKeys, await context.resolve());
  checkOutputs(keys);
  return withFileErrors(async () => {
    checkRepositoryId(keys.repo_id);
    if (keys.artifact_fpath !== undefined) checkArtifactPath(keys.artifact_fpath);
    if (keys.output_fpath !== undefined)
      await outputFile(context, keys.output_fpath, "name a file, or give it as --output-dir");
    const access = hubAccessOf(keys, context);
    hubUrl(access);
    const what = keys.artifact_fpath ?? (keys.split === undefined ? "all splits" : `split ${keys.split}`);
    if (!context.json) context.out(`Downloading ${what} of ${keys.repo_id}`);
    const fetched = await withByteProgress(context, (progress) =>
      fetchFromHub(context, access, keys, progress),
    );
    report(context, fetched);
    return 0;
  });
}

function checkOutputs(keys: HubKeys): void {
  const { output_fpath: file, output_dirpath: directory, artifact_fpath: artifact, split } = keys;
  const problem =
    (file === undefined) === (directory === undefined)
      ? "give exactly one of output_fpath (--output) and output_dirpath (--output-dir)"
      : artifact !== undefined && split !== undefined
        ? "artifact_fpath (--artifact) and split (--split) cannot be combined"
        : file !== undefined && artifact === undefined && split === undefined
          ? "output_fpath (--output) needs artifact_fpath (--artifact) or split (--split)"
          : undefined;
  if (problem !== undefined) throw new CommandKeysError(`invalid configuration: ${problem}.`);
}

async function fetchFromHub(
  { io }: CommandContext,
  access: HubAccess,
  keys: HubKeys,
  progress: ByteProgress,
): Promise<Fetched[]> {
  const { repo_id: repository, artifact_fpath: artifact, split } = keys;
  const revision = keys.revision ?? keys.version;
  const directory = path.resolve(io.cwd, keys.output_dirpath ?? ".");
  const place = (name: string) =>
    keys.output_fpath === undefined ? path.join(directory, name) : path.resolve(io.cwd, keys.output_fpath);
  const onProgress = ({ done, total }: { done: number; total: number | undefined }) =>
    progress.update(`Downloading ${artifact ?? repository}`, done, total);
  if (artifact !== undefined) {
    const file = place(path.posix.basename(artifact));
    const source = { repository, path: artifact, revision };
    return [{ file, result: await downloadHubFile(access, source, file, onProgress) }];
  }
  const dataset = { repository, revision, configName: keys.config_name };
  if (split !== undefined) {
    const file = place(`${split}.jsonl`);
    return [{ file, rows: await downloadHubSplit(access, { ...dataset, split }, file, onProgress) }];
  }
  return downloadHubSplits(access, dataset, directory, onProgress);
}

/** `gym dataset download --storage gitlab`. */
export async function downloadFromGitlab(context: CommandContext): Promise<number> {
  const keys = readKeys(registryDownloadKeys, await context.resolve());
  const { dataset_name: datasetName, version, artifact_fpath: artifactPath } = keys;
  return withFileErrors(async () => {
    const access = requireRegistry(keys, context);
    const file = await outputFile(context, keys.output_fpath, "name a file");
    if (!context.json) context.out(`Downloading ${artifactPath} of ${datasetName} ${version}`);
    const artifact = { datasetName, version, artifactPath };
    const result = await withByteProgress(context, (progress) =>
      downloadFromRegistry(access, artifact, file, ({ done, total }) =>
        progress.update(`Downloading ${artifactPath}`, done, total),
      ),
    );
    report(context, [{ file, result }]);
    return 0;
  });
}

function report(context: CommandContext, fetched: readonly Fetched[]): void {
  if (context.json) {
    const files = fetched.map(({ file, rows, result }) => ({
      file: relativePath(context, file),
      rows,
      ...(result && {
        bytes: result.bytes,
        resumed_from: result.resumedFrom,
        checksum: result.checksum ? `${result.checksum.algorithm}:${result.checksum.hex}` : null,
      }),
    }));
    context.out(JSON.stringify({ files }));
    return;
  }
  for (const { file, rows, result } of fetched) {
    const size = rows === undefined ? `${result?.bytes ?? 0} bytes` : `${rows} rows`;
    const checked = result?.checksum ? `, ${result.checksum.algorithm} checked` : "";
    context.out(`Wrote ${relativePath(context, file)} (${size}${checked}).`);
  }
}
