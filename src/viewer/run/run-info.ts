import { isObject } from "../../python/json/json-object.ts";
import { modelOfConfig } from "../../results/run-model.ts";
import type { ProgressSnapshot } from "../../rollouts/collect/progress-snapshot.ts";
import { readSmallFile } from "./small-file.ts";

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
    createdAt: typeof manifest["created_at"] === "string" ? manifest["created_at"] : undefined,
    expected: typeof rows === "number" ? rows : null,
    config,
    environments,
    model: modelOfConfig(config),
  };
}

/** The progress file of a run; undefined if it does not exist. */
export async function readProgress(
  path: string,
): Promise<(Partial<ProgressSnapshot> & { history?: [number, number, number][] }) | undefined> {
  const progress = await readJson(path);
  return isObject(progress) ? (progress as Partial<ProgressSnapshot>) : undefined;
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

function objectOf(value: unknown): Loose {
  return isObject(value) ? value : {};
}
