import { extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage } from "../../base/errors.ts";
import { importTypeScript } from "../../config/import-typescript.ts";
import { CaptureConfigError } from "./settings.ts";
import type { TokenCaptureRecord } from "./token-record.ts";

/** Stores the token records of a run. A class of the user can replace the files (`token_id_capture.sink`). */
export interface TokenSink {
  /** Announces a call. A call without a later `put` makes its rollout incomplete. */
  beginCall?(rolloutId: string, modelCallId: string): Promise<void>;
  /** Resolves when the record is stored. Storing the same record again has no effect. */
  put(record: TokenCaptureRecord): Promise<void>;
  /** Reports that the tokens of a call are lost. */
  markIncomplete(rolloutId: string, modelCallId: string): Promise<void>;
  close?(): Promise<void>;
}

/** All records of a rollout when it was frozen. */
export interface TokenSnapshot {
  /** In the order in which the calls ended. */
  records: TokenCaptureRecord[];
  /** The calls in the order in which they started; undefined for a call whose tokens are lost. */
  calls: (TokenCaptureRecord | undefined)[];
  /** Whether records are known to be missing. */
  incomplete: boolean;
  /** The problem of the records, if they are invalid. */
  problem?: string;
  snapshotId: string;
  version: number;
}

/** Returns the records of finished rollouts. Responses are rebuilt from a sink that also implements this interface. */
export interface TokenSource {
  /** Closes a rollout, so that later records are rejected. Freezing it again returns the same snapshot. */
  freeze(rolloutId: string): Promise<TokenSnapshot>;
  /** Deletes the snapshot that was used. Returns false if the rollout has changed since then. */
  drop(rolloutId: string, snapshot: Pick<TokenSnapshot, "snapshotId" | "version">): Promise<boolean>;
  /** Removes all records of this id before the rollout runs. */
  clear?(rolloutId: string): Promise<void>;
  close?(): Promise<void>;
}

/** Whether a sink can also return records. */
export function isTokenSource(sink: object): sink is TokenSource {
  const { freeze, drop } = sink as Partial<TokenSource>;
  return typeof freeze === "function" && typeof drop === "function";
}

/**
 * Creates the sink of `token_id_capture.sink`, which has the form `module:Class`. The module is a file, found in the same
 * way as `config_paths`, or an installed package. The class is an export of the module and receives `sink_kwargs`.
 */
export async function loadTokenSink(
  name: string,
  options: Readonly<Record<string, unknown>>,
  findFile: (path: string) => string,
): Promise<TokenSink> {
  const colon = name.lastIndexOf(":");
  const [path, exported] = [name.slice(0, colon), name.slice(colon + 1)];
  const module = await importModule(path, findFile).catch((error: unknown) => {
    throw sinkError(name, `${path} cannot be loaded: ${errorMessage(error)}`, error);
  });
  const Sink = module[exported];
  if (typeof Sink !== "function") {
    const there = Object.keys(module).join(", ") || "nothing";
    throw sinkError(name, `${path} exports no class '${exported}' (it exports ${there})`);
  }
  let sink: unknown;
  try {
    sink = Reflect.construct(Sink, [options]);
  } catch (error) {
    throw sinkError(name, `it cannot be created: ${errorMessage(error)}`, error);
  }
  if (isTokenSink(sink)) return sink;
  throw sinkError(name, "it needs the methods put(record) and markIncomplete(rolloutId, modelCallId)");
}

function isTokenSink(value: unknown): value is TokenSink {
  const { put, markIncomplete } = value as Partial<TokenSink>;
  return typeof put === "function" && typeof markIncomplete === "function";
}

async function importModule(
  path: string,
  findFile: (path: string) => string,
): Promise<Record<string, unknown>> {
  if (extname(path) === "" && !isAbsolute(path)) return import(path);
  const file = findFile(path);
  return file.endsWith(".ts") ? importTypeScript(file) : import(pathToFileURL(file).href);
}

function sinkError(name: string, problem: string, cause?: unknown): CaptureConfigError {
  return new CaptureConfigError(`token_id_capture.sink '${name}': ${problem}.`, { cause });
}
