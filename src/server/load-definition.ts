import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { errorMessage } from "../errors.ts";
import { authorTrace } from "./calling-code.ts";
import type { ServerDefinition } from "./definitions.ts";
import { isServerDefinition } from "./is-definition.ts";
import { compiledTwin, ServerCodeError } from "./locate-server.ts";

/** Loads the definition a server file exports: compiled where there is a fresh build, else TypeScript as it is. */
export async function loadDefinition(entry: string, installRoot: string): Promise<ServerDefinition> {
  const file = compiledTwin(entry, installRoot) ?? entry;
  let module: { default?: unknown };
  try {
    module = file.endsWith(".ts") ? await importTypeScript(file) : await import(pathToFileURL(file).href);
  } catch (error) {
    throw new ServerCodeError(`${entry} cannot be loaded: ${missingPackage(error) ?? authorTrace(error)}`);
  }
  const definition = module.default;
  if (isServerDefinition(definition)) return definition;
  throw new ServerCodeError(
    `${entry} has no server as its default export: use \`export default defineResourcesServer({ … })\`, defineAgent or defineModel.`,
  );
}

/** A package that is not installed is no matter of code. */
function missingPackage(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") return undefined;
  const [line = ""] = errorMessage(error).split("\n");
  const [, name] = /'((?:@[^/']+\/)?[^./'][^/']*)/.exec(line) ?? [];
  if (name === undefined) return undefined;
  return `${line}. Install it in your project (npm install ${name}), or name it in the package.json of the server's folder.`;
}

/** The `nemo-gym/<name>` of package.json. */
const PUBLIC_ENTRIES = ["server", "client", "openai", "python", "metrics", "verify", "text", "testing"];

/** Imports a file of TypeScript as it is; what it takes from this package is the copy that is running. */
export async function importTypeScript(
  file: string,
): Promise<{ default?: unknown } & Record<string, unknown>> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url, { alias: ownPackage(), interopDefault: false });
  return jiti.import(file);
}

/** Server files import the package by name; outside an install they get the copy that is running. */
function ownPackage(): Record<string, string> {
  const suffix = extname(fileURLToPath(import.meta.url));
  const at = (path: string) => fileURLToPath(new URL(`../${path}index${suffix}`, import.meta.url));
  const alias: Record<string, string> = {};
  for (const name of PUBLIC_ENTRIES) alias[`nemo-gym/${name}`] = at(`${name}/`);
  alias["nemo-gym"] = at("");
  // zod schemas are looked into by the host: a server without its own copy shares ours.
  alias["zod"] = createRequire(import.meta.url).resolve("zod");
  return alias;
}
