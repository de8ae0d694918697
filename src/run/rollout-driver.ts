import { errorMessage } from "../base/errors.ts";
import { importTypeScript } from "../config/import-typescript.ts";
import { findExistingPath } from "../config/paths.ts";
import { RolloutError } from "../records/errors.ts";
import type { ArtifactPaths } from "../records/files/door.ts";
import type { ServerClient } from "../servers/calls/door.ts";
import type { Evaluation } from "./run.ts";

export interface RolloutDriverContext {
  /** The built-in loop: collects all rollouts, writes the files and computes the metrics. */
  collect(): Promise<Evaluation>;
  /** Reaches the running servers by name. */
  readonly client: ServerClient;
  /** Paths for the results. */
  readonly paths: ArtifactPaths;
  readonly signal: AbortSignal;
}

/**
 * Replaces the built-in collection loop (`rollout_collection_driver: package.module:function`). Receives the keys of
 * the collection and the whole resolved config.
 */
export type RolloutDriver = (
  collection: Readonly<Record<string, unknown>>,
  config: Readonly<Record<string, unknown>>,
  context: RolloutDriverContext,
) => unknown;

/** Suffixes of the files that a module name may refer to, in order of precedence. */
const MODULE_FILES = [".ts", ".js", ".mjs", ".py", "/index.ts", "/__init__.py"];
const REFERENCE = /^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)$/;

/** The file and the function that `package.module:function` names; the file is undefined when it does not exist. */
export function locateRolloutDriver(
  reference: string,
  roots: readonly string[],
): { file: string | undefined; name: string } {
  const [, module, name] = REFERENCE.exec(reference) ?? [];
  if (module === undefined || name === undefined)
    throw problem(`rollout_collection_driver must look like package.module:function, not '${reference}'.`);
  const stem = module.replaceAll(".", "/");
  const file = MODULE_FILES.map((ending) => findExistingPath(`${stem}${ending}`, roots)).find(
    (found) => found !== undefined,
  );
  return { file, name };
}

/** Loads the function that replaces the built-in loop. */
export async function loadRolloutDriver(reference: string, roots: readonly string[]): Promise<RolloutDriver> {
  const { file, name } = locateRolloutDriver(reference, roots);
  if (file === undefined) {
    const wanted = `${reference.replace(/:.*/, "").replaceAll(".", "/")}.ts`;
    throw problem(
      `The module of the rollout driver '${reference}' was not found: ${wanted} under ${roots.join(", ")}.`,
    );
  }
  if (file.endsWith(".py"))
    throw problem(
      `The rollout driver ${file} is written in Python; drivers run in this process, as TypeScript.`,
    );
  let module: Record<string, unknown>;
  try {
    module = await importTypeScript(file);
  } catch (error) {
    throw problem(`The rollout driver ${file} cannot be loaded: ${errorMessage(error)}`, error);
  }
  const driver = module[name];
  if (typeof driver !== "function") throw problem(`${file} exports no function '${name}'.`);
  return driver as RolloutDriver;
}

function problem(message: string, cause?: unknown): RolloutError {
  return new RolloutError("ROLLOUT_DRIVER", message, { cause });
}
