import path from "node:path";
import { downloadFromRegistry } from "../../datasets/hub/gitlab.ts";
import { downloadHubSplit, downloadHubSplits } from "../../datasets/hub/hub-split-download.ts";
import { downloadHubFile } from "../../datasets/hub/huggingface.ts";
import { checkArtifactPath, checkRepositoryId } from "../../datasets/hub/remote-names.ts";
import type { DownloadResult } from "../../remote/download-file.ts";
import { type HubAccess, hubUrl } from "../../remote/hub-access.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { CommandKeysError } from "../errors.ts";
import { hubAccess, requireRegistry } from "./access.ts";
import { outputFile, withFileErrors } from "./input-file.ts";
import { hubDownloadKeys, registryDownloadKeys } from "./keys.ts";
import { ByteProgress } from "./transfer-progress.ts";

type HubKeys = KeyValues<typeof hubDownloadKeys>;

/** One written file, with `rows` if it was converted from a split. */
interface Fetched {
  file: string;
  rows?: number;
  result?: DownloadResult;
}

/** `gym dataset download`. */
export async function downloadFromHuggingFace(context: CommandContext, json: boolean): Promise<number> {
  const keys = readKeys(hubDownloadKeys, await context.resolve());
  checkOutputs(keys);
  return withFileErrors(async () => {
    checkRepositoryId(keys.repo_id);
    if (keys.artifact_fpath !== undefined) checkArtifactPath(keys.artifact_fpath);
    if (keys.output_fpath !== undefined)
      await outputFile(context, keys.output_fpath, "name a file, or give it as --output-dir");
    const access = hubAccess(keys, context);
    hubUrl(access);
    const what = keys.artifact_fpath ?? (keys.split === undefined ? "all splits" : `split ${keys.split}`);
    if (!json) context.out(`Downloading ${what} of ${keys.repo_id}`);
    const progress = new ByteProgress(context);
    try {
      const fetched = await fetchFromHub(context, access, keys, progress);
      progress.end();
      report(context, fetched, json);
      return 0;
    } finally {
      progress.end();
    }
  });
}

function checkOutputs(keys: HubKeys): void {
  const { output_fpath: file, output_dirpath: directory, artifact_fpath: artifact, split } = keys;
  const problem =
    (file === undefined) === (directory === undefined)
      ? "give exactly one of output_fpath (--output) and output_dirpath (--output-dir)"
      : artifact !== undefined && split !== undefined
        ? "artifact_fpath (--artifact) and split (--split) exclude one another"
        : file !== undefined && artifact === undefined && split === undefined
          ? "output_fpath (--output) needs artifact_fpath (--artifact) or split (--split)"
          : undefined;
  if (problem !== undefined) throw new CommandKeysError(`invalid configuration: ${problem}.`);
}

async function fetchFromHub(
  context: CommandContext,
  access: HubAccess,
  keys: HubKeys,
  progress: ByteProgress,
): Promise<Fetched[]> {
  const { repo_id: repository, artifact_fpath: artifact, split } = keys;
  const revision = keys.revision ?? keys.version;
  const place = (name: string) =>
    keys.output_fpath === undefined
      ? path.resolve(context.io.cwd, keys.output_dirpath ?? ".", name)
      : path.resolve(context.io.cwd, keys.output_fpath);
  const onProgress = ({ done, total }: { done: number; total: number | undefined }) =>
    progress.update(`Downloading ${artifact ?? repository}`, done, total);
  if (artifact !== undefined) {
    const file = place(path.posix.basename(artifact));
    return [
      {
        file,
        result: await downloadHubFile(access, { repository, path: artifact, revision }, file, onProgress),
      },
    ];
  }
  const dataset = { repository, revision, configName: keys.config_name };
  if (split !== undefined) {
    const file = place(`${split}.jsonl`);
    return [{ file, rows: await downloadHubSplit(access, { ...dataset, split }, file, onProgress) }];
  }
  return downloadHubSplits(
    access,
    dataset,
    path.resolve(context.io.cwd, keys.output_dirpath ?? "."),
    onProgress,
  );
}

/** `gym dataset download --storage gitlab`. */
export async function downloadFromGitlab(context: CommandContext, json: boolean): Promise<number> {
  const keys = readKeys(registryDownloadKeys, await context.resolve());
  const { dataset_name: datasetName, version, artifact_fpath: artifactPath } = keys;
  return withFileErrors(async () => {
    const access = requireRegistry(keys, context);
    const file = await outputFile(context, keys.output_fpath, "name a file");
    if (!json) context.out(`Downloading ${artifactPath} of ${datasetName} ${version}`);
    const progress = new ByteProgress(context);
    try {
      const result = await downloadFromRegistry(
        access,
        { datasetName, version, artifactPath },
        file,
        ({ done, total }) => progress.update(`Downloading ${artifactPath}`, done, total),
      );
      progress.end();
      report(context, [{ file, result }], json);
      return 0;
    } finally {
      progress.end();
    }
  });
}

function report(context: CommandContext, fetched: readonly Fetched[], json: boolean): void {
  const relative = (file: string) => path.relative(context.io.cwd, file) || file;
  if (json) {
    const files = fetched.map(({ file, rows, result }) => ({
      file: relative(file),
      ...(rows !== undefined && { rows }),
      ...(result !== undefined && {
        bytes: result.bytes,
        resumed_from: result.resumedFrom,
        checksum:
          result.checksum === undefined ? null : `${result.checksum.algorithm}:${result.checksum.hex}`,
      }),
    }));
    context.out(JSON.stringify({ files }));
    return;
  }
  for (const { file, rows, result } of fetched) {
    const size = rows === undefined ? `${result?.bytes ?? 0} bytes` : `${rows} rows`;
    const checked = result?.checksum === undefined ? "" : `, ${result.checksum.algorithm} checked`;
    context.out(`Wrote ${relative(file)} (${size}${checked}).`);
  }
}
