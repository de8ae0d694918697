import { isObject } from "../../base/python/json/door.ts";
import { readRunFile } from "../../records/door.ts";
import { environmentsOfConfig, modelOfConfig } from "../../records/files/door.ts";
import type { ProgressSnapshot } from "../../records/light-door.ts";
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
  const rows = objectOf(manifest["materialized_inputs"])["rows"];
  return {
    createdAt: textOf(manifest["created_at"]),
    expected: typeof rows === "number" ? rows : null,
    config,
    environments: environmentsOfConfig(config),
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
    const text = await readRunFile(path, MAX_BYTES);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
