import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage } from "../../base/errors.ts";
import { suggestMisspelt } from "../../base/suggest.ts";
import { importTypeScript, publicEntries } from "../../config/import-typescript.ts";
import { isServerDefinition, type ServerDefinition } from "../definitions/definitions.ts";
import { authorTrace } from "./guards/hosted-code.ts";
import { compiledTwin, ServerCodeError } from "./locate-server.ts";

/** Loads the definition that a server file exports: compiled if the build is current, else the TypeScript source. */
export async function loadDefinition(entry: string, installRoot: string): Promise<ServerDefinition> {
  const file = compiledTwin(entry, installRoot) ?? entry;
  let module: { default?: unknown };
  try {
    module = file.endsWith(".ts") ? await importTypeScript(file) : await import(pathToFileURL(file).href);
  } catch (error) {
    const problem =
      missingEntry(error) ?? missingPackage(error, path.dirname(entry)) ?? (await missingName(error));
    throw new ServerCodeError(`${entry} cannot be loaded: ${problem ?? authorTrace(error)}`);
  }
  const definition = module.default;
  if (isServerDefinition(definition)) return definition;
  throw new ServerCodeError(
    `${entry} has no server as its default export: use \`export default defineResourcesServer({ … })\`, defineAgent or defineModel.`,
  );
}

/** An import such as `nemo-gym/opnai`, which the loader looks for below the file of `nemo-gym`. */
function missingEntry(error: unknown): string | undefined {
  const entries = publicEntries();
  for (const [name, file] of entries) {
    const [, rest] = errorMessage(error).split(`'${file}/`);
    if (rest === undefined) continue;
    const names = entries.map(([entry]) => entry).sort();
    return `there is no '${name}/${rest.split("'")[0]}'. The entries are ${names.join(", ")}.`;
  }
  return undefined;
}

/** A call of a name that an import does not have: the loader does not check imports. */
async function missingName(error: unknown): Promise<string | undefined> {
  const [, name] = /^\(0 , _\w+\.(\w+)\) is not a function$/.exec(errorMessage(error)) ?? [];
  if (name === undefined) return undefined;
  const entryOf = new Map<string, string>();
  for (const [entry, file] of publicEntries()) {
    const module = (await import(pathToFileURL(file).href)) as object;
    for (const exported of Object.keys(module)) entryOf.set(exported, entry);
  }
  const nearest = suggestMisspelt(name, [...entryOf.keys()]);
  const hint = nearest ? ` Did you mean '${nearest}' of '${entryOf.get(nearest)}'?` : "";
  return `it calls '${name}', which its imports do not have.${hint}`;
}

/** A missing package is reported without a stack. */
function missingPackage(error: unknown, folder: string): string | undefined {
  const { code } = error as { code?: unknown };
  if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") return undefined;
  const [line = ""] = errorMessage(error).split("\n");
  const [, name] = /'((?:@[^/']+\/)?[^./'][^/']*)/.exec(line) ?? [];
  if (name === undefined) return undefined;
  if (namesPackage(path.join(folder, "package.json"), name))
    return `${line}. The package.json of the server's folder names it: install it with \`gym env prefetch\`.`;
  return `${line}. Install it in your project (npm install ${name}), or name it in the package.json of the server's folder.`;
}

function namesPackage(manifest: string, name: string): boolean {
  return existsSync(manifest) && readFileSync(manifest, "utf8").includes(JSON.stringify(name));
}
