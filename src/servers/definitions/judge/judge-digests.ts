import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { dumps, isObject } from "../../../base/python/json/door.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { VERDICT_READERS_VERSION } from "./judge-verdict.ts";

const CODE = /(?<!\.test|\.d)\.(?:[cm]?[jt]s|py)$/;
const TEXT = /\.(?:txt|md|ya?ml|json|jinja2?|j2)$/;
/** Files that no judge sees. */
const OTHER =
  /^(?:readme.*|license.*|audit\.yaml|certificate\.json|calibration\.json|package(?:-lock)?\.json|tsconfig\.json)$/i;
const OTHER_FOLDERS = new Set(["node_modules", "data", "tests", "configs", "testdata"]);
/** Config keys that change what a judge is asked or how it is read, and those that only change how fast. */
const ASKING = /judge|prompt|template|label|rubric|grad/i;
const SERVING = /(?:model_server|max_concurrency|timeout_seconds|cache_entries)$/;
const MAX_FILES = 500;
const MAX_BYTES = 4 * 1024 * 1024;
const IMPORT = /(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** What decides the verdicts of a judge besides its model. */
export interface JudgeDigests {
  prompt: string;
  parser: string;
}

/**
 * Digests of the prompts of a server, with the config keys about its judge, and of its code, with the files outside its folder
 * that it imports. A change of either may change verdicts. Undefined if the files cannot be read.
 */
export async function judgeDigests(
  server: Pick<ServerContext<unknown>, "directory" | "config" | "findFile">,
): Promise<JudgeDigests | undefined> {
  try {
    const files = await filesIn(server.directory);
    const asking = Object.entries(isObject(server.config) ? server.config : {}).filter(
      ([key, value]) => ASKING.test(key) && !SERVING.test(key) && value !== undefined,
    );
    const named = await namedTexts(server, asking);
    const texts = await Promise.all(files.filter((file) => TEXT.test(file)).map(contentOf(server.directory)));
    const code = await codeOf(
      server.directory,
      files.filter((file) => CODE.test(file)),
    );
    return {
      prompt: digest([...texts, ...named, ["config", dumps(Object.fromEntries(asking), { sortKeys: true })]]),
      parser: digest([...code, ["verdict readers", String(VERDICT_READERS_VERSION)]]),
    };
  } catch {
    // Nothing depends on the digests but calibrations, which are rejected without them.
    return undefined;
  }
}

type Content = [name: string, text: string];

/** Relative paths of the files that may be code or prompts, sorted. */
async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !OTHER.test(entry.name))
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.split(path.sep).some((part) => OTHER_FOLDERS.has(part)))
    .filter((file) => CODE.test(file) || TEXT.test(file));
  if (files.length > MAX_FILES) throw new Error(`'${directory}' has more than ${MAX_FILES} files`);
  return files.sort();
}

function contentOf(directory: string): (file: string) => Promise<Content> {
  return async (file) => {
    const text = await readFile(path.join(directory, file), "utf8");
    if (text.length > MAX_BYTES) throw new Error(`'${file}' is too large`);
    return [file.split(path.sep).join("/"), text];
  };
}

/** The files, and those outside the folder that they import, directly or not. */
async function codeOf(directory: string, files: readonly string[]): Promise<Content[]> {
  const found = new Map<string, string>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    if (found.size >= MAX_FILES) throw new Error("too many imports");
    const [name, text] = await contentOf(directory)(file);
    found.set(name, text);
    for (const [, target = ""] of text.matchAll(IMPORT)) {
      const imported = path.join(path.dirname(file), target);
      if (imported.startsWith("..") && CODE.test(imported)) open.push(imported);
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The prompt files that config keys name. */
async function namedTexts(
  { directory, findFile }: Pick<ServerContext<unknown>, "directory" | "findFile">,
  asking: readonly [key: string, value: unknown][],
): Promise<Content[]> {
  const named = asking.filter(
    ([, value]) => typeof value === "string" && !/\n/.test(value) && TEXT.test(value),
  );
  return Promise.all(
    named.map(async ([key, value]): Promise<Content> => {
      const beside = path.resolve(directory, String(value));
      const elsewhere = () => readFile(findFile(String(value)), "utf8");
      return [key, await readFile(beside, "utf8").catch(elsewhere)];
    }),
  );
}

function digest(contents: readonly Content[]): string {
  const hash = createHash("sha256");
  for (const [name, text] of contents) hash.update(`${name}\0${Buffer.byteLength(text)}\0`).update(text);
  return hash.digest("hex").slice(0, 16);
}
