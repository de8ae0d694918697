import { readConfig } from "../../hosting/apps/create-app.ts";
import { loadDefinition } from "../../hosting/load-definition.ts";
import { installNodeDependencies } from "../../hosting/processes/node-dependencies.ts";
import { pythonEnvironment } from "../../hosting/processes/python-environment.ts";
import { silentLogger } from "../../logger.ts";
import { locateInstances } from "../../run/start-servers.ts";
import type { CommandContext } from "../command.ts";

/** Placeholder for a model that was not given; there is nothing to prepare for it. */
const NO_MODEL_IMPLEMENTATION = "dummy_model";

/** Runs `gym env prefetch`: each distinct server folder once, one after the other. */
export async function prefetchServers(context: CommandContext): Promise<number> {
  const { roots, installRoot, signal, json } = context;
  const out = json ? () => {} : context.out;
  const folders: { server: string; directory: string; has_own_packages: boolean }[] = [];
  const config = await context.resolve();
  const servers = config.servers.filter(({ implementation }) => implementation !== NO_MODEL_IMPLEMENTATION);
  const prepared = new Set<string>();
  for (const instance of locateInstances({ servers }, roots)) {
    signal.throwIfAborted();
    const { directory, language, hasOwnDependencies } = instance.code;
    const label = `${instance.type}/${instance.implementation}`;
    if (prepared.has(directory)) {
      out(`Skipping duplicate: ${label}`);
      continue;
    }
    prepared.add(directory);
    out(`Pre-warming venv for: ${label}`);
    const needsPackages = language === "python" || hasOwnDependencies;
    if (language === "python") {
      const globalConfig = config.toObject();
      await pythonEnvironment(instance, { globalConfig, installRoot, log: out });
    } else if (hasOwnDependencies) await installNodeDependencies(instance.name, directory, signal);
    if (language === "node" && instance.type === "responses_api_agents")
      await prefetchAgent(instance, { installRoot, signal, log: out });
    folders.push({ server: label, directory, has_own_packages: needsPackages });
  }
  out("Prefetch complete.");
  if (json) context.out(JSON.stringify({ prepared: folders }));
  return 0;
}

/** Prepares what an agent needs besides the libraries of its folder, such as the program that it runs. */
async function prefetchAgent(
  instance: ReturnType<typeof locateInstances>[number],
  context: { installRoot: string; signal: AbortSignal; log(line: string): void },
): Promise<void> {
  const definition = await loadDefinition(instance.code.entry, context.installRoot);
  if (definition.type !== "responses_api_agents" || definition.options.prefetch === undefined) return;
  const { signal, log } = context;
  const config = readConfig(definition, { ...instance, log: silentLogger });
  await definition.options.prefetch({ config, signal, log });
}
