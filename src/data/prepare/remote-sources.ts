import { copyFile, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { type JsonObject, loads } from "../../base/python/json/door.ts";
import { candidatePaths, findExistingPath } from "../../config/paths.ts";
import { readDataFileRows } from "../data-file-rows.ts";
import { DatasetError } from "../errors.ts";
import { downloadHubSplit } from "../hub/hub-split-download.ts";
import { downloadHubFile } from "../hub/huggingface.ts";
import { dataFormat } from "../hub/split-files.ts";
import { downloadFile } from "../remote/download-file.ts";
import { type HubAccess, hubJson } from "../remote/hub-access.ts";
import { readArchive } from "./archives.ts";
import type { SourceAccess, SourceDescription } from "./sources.ts";

export interface RemoteSourceOptions {
  readonly hub: HubAccess;
  /** The folder for downloads. What is complete is used again; an interrupted download continues. */
  readonly directory: string;
  /** Where `file` sources are looked for, in order. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Sources on the hub, at addresses and in files. */
export function remoteSources({ hub, directory, roots, signal, log }: RemoteSourceOptions): SourceAccess {
  const rowsOf = async function* (file: string, name: string): AsyncGenerator<JsonObject> {
    for await (const line of readDataFileRows(file, name, signal))
      yield loads(line, { allowNonFinite: true }) as JsonObject;
  };
  const locate = async ({
    hub: repository,
    files,
    revision,
    url,
    file,
  }: SourceDescription): Promise<string> => {
    if (file !== undefined) return existingFile(file, roots);
    if (repository !== undefined && files !== undefined) {
      const destination = path.join(directory, safeName(`${repository}-${revision ?? "main"}-${files}`));
      log(`downloading ${files} of ${repository}`);
      await downloadHubFile(hub, { repository, path: files, revision }, destination);
      return destination;
    }
    if (url === undefined) throw new DatasetError("BENCHMARK_SOURCE", "The source has no address.");
    const destination = path.join(directory, safeName(url.replace(/^https?:\/\//, "")));
    log(`downloading ${url}`);
    await downloadFile({ url, destination, signal, retries: hub.retries, onRetry: hub.onRetry });
    return destination;
  };
  return {
    async *hubRows({ hub: repository, config, split = "train", revision }) {
      const name = [repository, config, split, revision].filter((part) => part !== undefined).join("-");
      const file = path.join(directory, `${safeName(name)}.jsonl`);
      log(
        `downloading the split '${split}' of ${repository}${config === undefined ? "" : `, config '${config}'`}`,
      );
      await downloadHubSplit(hub, { repository, split, configName: config, revision }, file);
      yield* rowsOf(file, file);
    },
    async hubConfigs(repository) {
      return Object.keys((await hubJson(hub, `/api/datasets/${repository}/parquet`)) as object);
    },
    async open(source) {
      const file = await locate(source);
      if (source.save !== undefined) await keep(file, path.join(path.dirname(directory), source.save));
      const name = source.files ?? source.file ?? new URL(source.url ?? "").pathname;
      return {
        name,
        ...(dataFormat(name) !== undefined && { lines: () => rowsOf(file, name) }),
        text: async () => {
          const bytes = await readFile(file, { signal });
          return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
        },
        members: (encoding, wanted) => readArchive(file, { encoding, wanted, signal }),
      };
    },
  };
}

/** Copies a source that a server reads, such as hidden tests, beside the rows. */
async function keep(file: string, destination: string): Promise<void> {
  const part = `${destination}.part`;
  await copyFile(file, part);
  await rename(part, destination);
}

function existingFile(file: string, roots: readonly string[]): string {
  const found = findExistingPath(file, [...roots]);
  if (found !== undefined) return found;
  const tried = [...new Set(candidatePaths(file, [...roots]))].join(", ");
  throw new DatasetError("BENCHMARK_SOURCE", `The source file does not exist: ${tried}.`);
}

function safeName(text: string): string {
  return text.replace(/[^\w.-]+/g, "_").slice(-150);
}
