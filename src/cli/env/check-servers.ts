import { ConfigError } from "../../config/errors.ts";
import { searchRoots } from "../../config/paths.ts";
import type { ResolvedConfig, ServerInstance } from "../../config/resolve.ts";
import { currentComponentName } from "../../config/servers/aliases.ts";
import { errorMessage } from "../../errors.ts";
import { HOSTING, misspeltHostKeys, readHostSettings } from "../../hosting/host-settings.ts";
import { compiledTwin, locateServer, type ServerCode } from "../../hosting/locate-server.ts";
import type { CommandContext } from "../command.ts";

/** Stands for the model where none is configured; it has no code. */
const NO_MODEL = "dummy_model";

interface Findings {
  /** What keeps the servers from starting. */
  problems: string[];
  warnings: string[];
}

/**
 * Looks at what a config that resolves would still stumble over when it is started. Values that no server can run with are an
 * error; code that is not there is a warning, since it may be on another machine. Blocks of servers that come with the package
 * must fit their schemas; `deep` loads the code of all others too, and what is wrong with it is an error.
 */
export async function checkServers(
  config: ResolvedConfig,
  { io, env, installRoot }: Pick<CommandContext, "io" | "env" | "installRoot">,
  { deep }: { deep: boolean },
): Promise<string[]> {
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  const found: Findings = { problems: [...hostingProblems(config)], warnings: [] };
  for (const server of config.servers) {
    if (server.implementation === NO_MODEL) continue;
    const block = blockOf(server, deep);
    if (block) checkBlock(server, block, found);
    const code = findCode(server, roots, deep ? found.problems : found.warnings);
    // Code that comes with the package is compiled and known: looking at its schema costs little and runs nothing of the user's.
    const loads = deep || (code && compiledTwin(code.entry, installRoot) !== undefined);
    if (loads && code && block) await checkCode(server, block, code, installRoot, found);
  }
  if (found.problems.length === 0) return [...new Set(found.warnings)];
  const list = found.problems.map((problem) => `  - ${problem.replaceAll("\n", "\n    ")}`).join("\n");
  throw new ConfigError(`These servers cannot be started:\n${list}`);
}

function* hostingProblems(config: ResolvedConfig): Generator<string> {
  const hosting = config.get("hosting") ?? null;
  if (hosting !== null && !HOSTING.some((known) => known === hosting))
    yield `hosting: must be one of ${HOSTING.join(", ")}, not ${JSON.stringify(hosting)}`;
}

/** Undefined when a value refers to something that is not there yet: a config without its model is valid. */
function blockOf(server: ServerInstance, deep: boolean): Record<string, unknown> | undefined {
  try {
    return server.config;
  } catch (error) {
    if (deep || !(error instanceof ConfigError)) throw error;
    return undefined;
  }
}

function checkBlock(server: ServerInstance, block: Record<string, unknown>, found: Findings): void {
  const { name, type, implementation } = server;
  const at = `${name}.${type}.${implementation}.`;
  found.problems.push(...readHostSettings(type, block).problems.map((problem) => at + problem));
  for (const sentence of misspeltHostKeys(type, block)) found.warnings.push(at + sentence);
}

function findCode(server: ServerInstance, roots: readonly string[], told: string[]): ServerCode | undefined {
  const { name, type, entrypoint } = server;
  const implementation = currentComponentName(server.implementation);
  try {
    return locateServer({ name, type, implementation, entrypoint }, roots);
  } catch (error) {
    told.push(errorMessage(error));
    return undefined;
  }
}

async function checkCode(
  { name, implementation }: ServerInstance,
  config: Record<string, unknown>,
  code: ServerCode,
  installRoot: string,
  { problems, warnings }: Findings,
): Promise<void> {
  if (code.language === "python") {
    warnings.push(`Server '${name}' is written in Python: its code is not checked.`);
    return;
  }
  const { loadDefinition } = await import("../../hosting/load-definition.ts");
  const { readConfig } = await import("../../hosting/apps/create-app.ts");
  const { checkDefinition } = await import("../../definitions/check-definition.ts");
  const { silentLogger } = await import("../../logger.ts");
  const log = { ...silentLogger, warn: (line: string) => void warnings.push(line) };
  try {
    const definition = await loadDefinition(code.entry, installRoot);
    checkDefinition(definition, name, log);
    // Keys of the host have been checked with the rest of the block.
    if (readHostSettings(definition.type, config).problems.length === 0)
      readConfig(definition, { name, implementation, config, log });
  } catch (error) {
    problems.push(errorMessage(error));
  }
}
