import { open } from "node:fs/promises";
import { isObject } from "../../base/python/json/json-object.ts";
import { modelOfConfig } from "../../records/files/manifest.ts";
import type { ProgressSnapshot } from "../../records/progress-snapshot.ts";
import { objectOf, textOf } from "../conversation/json-values.ts";

const MAX_BYTES = 8 * 1024 * 1024;

type Loose = Record<string, unknown>;

/** The information in the manifest of a run. */
export interface RunInfo {
  createdAt: string | undefined;
  /** Number of requested rollouts. */
  expected: number | null;
  config: Loose;
  /** Environment (resources server) of each agent. */
  environments: ReadonlyMap<string, string>;
  /** Name of the model, as configured. */
  model: string | null;
}

export const NO_INFO: RunInfo = {
  createdAt: undefined,
  expected: null,
  config: {},
  environments: new Map(),
  model: null,
};

/** Reads a manifest. Errors are ignored, because the rollouts do not depend on it. */
export async function readRunInfo(manifestPath: string): Promise<RunInfo> {
  const manifest = await readJson(manifestPath);
  if (!isObject(manifest)) return NO_INFO;
  const config = objectOf(manifest["config"]);
  const servers = objectOf(config["servers"]);
  const environments = new Map<string, string>();
  for (const [name, server] of Object.entries(servers)) {
    if (!isObject(server)) continue;
    const reference = objectOf(server["resources_server"])["name"];
    if (typeof reference === "string") environments.set(name, reference);
  }
  const rows = objectOf(manifest["materialized_inputs"])["rows"];
  return {
    createdAt: textOf(manifest["created_at"]),
    expected: typeof rows === "number" ? rows : null,
    config,
    environments,
    model: modelOfConfig(config),
  };
}

/** The content of a progress file. */
export type Progress = Partial<ProgressSnapshot> & {
  history?: [seconds: number, done: number, in_flight: number][];
  updated_at?: string;
};

/** The progress file of a run; undefined if it does not exist. */
export async function readProgress(path: string): Promise<Progress | undefined> {
  const progress = await readJson(path);
  return isObject(progress) ? (progress as Progress) : undefined;
}

/** The statistics file of a run. */
export async function readStatistics(path: string): Promise<Loose | undefined> {
  const statistics = await readJson(path);
  return isObject(statistics) ? statistics : undefined;
}

async function readJson(path: string): Promise<unknown> {
  try {
    const text = await readSmallFile(path, MAX_BYTES);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** The text of a file, or undefined when it does not exist or is larger than `limit` bytes. */
export async function readSmallFile(path: string, limit: number): Promise<string | undefined> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    return size > limit ? undefined : await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
