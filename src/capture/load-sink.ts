import { extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage } from "../errors.ts";
import { importTypeScript } from "../import-typescript.ts";
import { CaptureConfigError } from "./settings.ts";
import type { TokenSink } from "./token-sink.ts";

/**
 * Makes the sink that `token_id_capture.sink` names as `module:Class`. The module is a file, found the way `config_paths` are, or
 * an installed package; the class is one of its exports and gets `sink_kwargs`.
 */
export async function loadTokenSink(
  name: string,
  options: Readonly<Record<string, unknown>>,
  findFile: (path: string) => string,
): Promise<TokenSink> {
  const colon = name.lastIndexOf(":");
  const [path, exported] = [name.slice(0, colon), name.slice(colon + 1)];
  const module = await importModule(path, findFile).catch((error: unknown) => {
    throw refuse(name, `${path} cannot be loaded: ${errorMessage(error)}`, error);
  });
  const Sink = module[exported];
  if (typeof Sink !== "function") {
    const there = Object.keys(module).join(", ") || "nothing";
    throw refuse(name, `${path} exports no class '${exported}' (it exports ${there})`);
  }
  let sink: unknown;
  try {
    sink = Reflect.construct(Sink, [options]);
  } catch (error) {
    throw refuse(name, `it cannot be made: ${errorMessage(error)}`, error);
  }
  if (isTokenSink(sink)) return sink;
  throw refuse(name, "it needs the methods put(record) and markIncomplete(rolloutId, modelCallId)");
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

function refuse(name: string, problem: string, cause?: unknown): CaptureConfigError {
  return new CaptureConfigError(`token_id_capture.sink '${name}': ${problem}.`, { cause });
}
