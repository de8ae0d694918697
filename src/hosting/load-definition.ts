import { pathToFileURL } from "node:url";
import { isServerDefinition, type ServerDefinition } from "../definitions/definitions.ts";
import { errorMessage } from "../errors.ts";
import { importTypeScript } from "../import-typescript.ts";
import { authorTrace } from "./guards/hosted-code.ts";
import { compiledTwin, ServerCodeError } from "./locate-server.ts";

/** Loads the definition that a server file exports: compiled if the build is current, else the TypeScript source. */
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

/** A missing package is reported without a stack. */
function missingPackage(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") return undefined;
  const [line = ""] = errorMessage(error).split("\n");
  const [, name] = /'((?:@[^/']+\/)?[^./'][^/']*)/.exec(line) ?? [];
  if (name === undefined) return undefined;
  return `${line}. Install it in your project (npm install ${name}), or name it in the package.json of the server's folder.`;
}
