import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage, GymError, type JsonObject } from "nemo-gym";

/** Imports a package that is installed in the folder of a server, or above it. */
export async function importFrom(directory: string, name: string): Promise<JsonObject> {
  let file: string;
  try {
    file = createRequire(join(directory, "package.json")).resolve(name);
  } catch (error) {
    throw new GymError(
      "AI_SDK_PACKAGE",
      `The package '${name}' is not installed: run \`npm install ${name}\` in ${directory}. (${errorMessage(error).split("\n")[0]})`,
      { cause: error },
    );
  }
  return (await import(pathToFileURL(file).href)) as JsonObject;
}

type Factory = (options: JsonObject) => unknown;

/** The factory function of a provider package. */
export function factoryOf(name: string, exports: JsonObject, wanted: string | null | undefined): Factory {
  const factories = Object.keys(exports).filter(
    (key) => key.startsWith("create") && typeof exports[key] === "function",
  );
  const chosen = wanted ?? (factories.length === 1 ? factories[0] : undefined);
  const found = chosen === undefined ? undefined : exports[chosen];
  if (typeof found === "function") return found as Factory;
  const known = factories.join(", ") || "none";
  throw new GymError(
    "AI_SDK_PACKAGE",
    `'${name}' has no ${chosen ?? "single"} factory; set \`factory\` to one of: ${known}.`,
  );
}

/** The language model of a provider. */
export function modelOf(provider: unknown, model: string, method: string | null | undefined): unknown {
  const source = provider as JsonObject & ((model: string) => unknown);
  if (method) {
    const make = source[method];
    if (typeof make === "function") return make.call(source, model);
    const known = Object.keys(source).filter((key) => typeof source[key] === "function");
    throw new GymError(
      "AI_SDK_PACKAGE",
      `The provider has no method '${method}'; it has: ${known.join(", ")}.`,
    );
  }
  if (typeof provider === "function") return source(model);
  return (source["languageModel"] as (model: string) => unknown).call(source, model);
}
