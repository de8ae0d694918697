import type { ServerDefinition } from "../definitions/definitions.ts";
import { guardExit } from "./guards/hosted-code.ts";
import { loadDefinition } from "./load-definition.ts";
import type { VerifyTask } from "./verify-pool.ts";

const definitions = new Map<string, Promise<ServerDefinition>>();

/** Runs one `verify` in this thread; an exception is returned as data. */
export default async function verify({
  code,
  entry,
  installRoot,
  config,
  args,
}: VerifyTask): Promise<unknown> {
  try {
    let loading = definitions.get(entry);
    if (!loading) {
      guardExit([code]);
      loading = loadDefinition(entry, installRoot);
      definitions.set(entry, loading);
    }
    const definition = await loading;
    if (definition.type !== "resources_servers" || definition.kind !== "standard") {
      throw new TypeError(`${entry} is not a resources server`);
    }
    const schema = definition.options.config;
    const parsed = schema ? { ...config, ...schema.parse(config) } : config;
    const signal = new AbortController().signal;
    return {
      result: await definition.options.verify({
        ...(args as never as object),
        config: parsed,
        signal,
      } as never),
    };
  } catch (error) {
    const { name, message, code, stack } = error as Error & { code?: unknown };
    return { error: { name, message, code, stack } };
  }
}
