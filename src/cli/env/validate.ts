import { silentLogger } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { DUMMY_MODEL, type ResolvedConfig, type ServerInstance } from "../../config/door.ts";
import { ConfigError, NoServerInstancesError, OverrideError } from "../../config/errors.ts";
import { citePositions, currentComponentName } from "../../config/light-door.ts";
import { checkDefinition, type ServerDefinition } from "../../servers/definitions/door.ts";
import {
  ConfigMisfit,
  HOSTING,
  loadDefinition,
  locateServer,
  misspeltHostKeys,
  readConfig,
  readHostSettings,
  type ServerCode,
} from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { givenKeys } from "../config-keys.ts";

/** Runs `gym env validate`. */
export async function validate(
  context: CommandContext,
  { deep, strict }: { deep: boolean; strict: boolean },
): Promise<number> {
  const { json, resolve, out, err, terminal } = context;
  if (choosesManifest(context)) return (await import("./workload.ts")).validateManifest(context);
  const check = async () => {
    const config = requireContent(await resolve({ noModel: !strict }));
    return {
      config,
      isEmpty: hasNoServers(config),
      ...(await checkServers(config, context, { deep, strict })),
    };
  };
  if (json) {
    const report = await validationReport(check);
    out(JSON.stringify(report));
    return report.valid ? 0 : 1;
  }
  const { isEmpty, warnings, notStartable } = await check();
  for (const warning of warnings) err(`Warning: ${warning}`);
  out(`${terminal.green("✓")} Config is valid.`);
  if (isEmpty) out("It has no servers.");
  if (notStartable.length > 0)
    out(`It cannot be started here: see the warnings about ${notStartable.join(", ")}.`);
  return 0;
}

/** Whether `gym env validate` checks a workload instead of a config. */
function choosesManifest(context: CommandContext): boolean {
  const given = givenKeys(context);
  if (given.includes("onboarding_name") || given.includes("manifest_path")) return true;
  const needs = ["catalog_kind", "sync", "update_expected"].filter((key) => given.includes(key));
  // A selected config may also be reported as JSON.
  if (context.json && !given.includes("config_paths")) needs.push("json");
  if (needs.length === 0) return false;
  throw new ConfigError(`These need the name of a workload or --manifest: ${needs.join(", ")}.`);
}

/** Without files and servers there is nothing to check. Files without servers are parts of other configs. */
function requireContent(config: ResolvedConfig): ResolvedConfig {
  if (!hasNoServers(config)) return config;
  const files = config.get("config_paths");
  const isPart = Array.isArray(files) && files.length > 0 && !hasEntrypoint(config);
  if (isPart) return config;
  throw new NoServerInstancesError(
    "The config has no servers, so there is nothing to validate. Name one with --config FILE, --resources-server NAME or another selector.",
  );
}

function hasNoServers({ servers }: ResolvedConfig): boolean {
  return servers.every(({ implementation }) => implementation === DUMMY_MODEL);
}

/** Whether a block was meant as a server, although it is none. Values may refer to keys of other files. */
function hasEntrypoint(config: ResolvedConfig): boolean {
  const dummies = config.servers.map(({ name }) => `${name}:`);
  const blocks = config.toYaml({ resolve: false }).split(/^(?=\S)/m);
  return blocks.some(
    (block) => /^\s+entrypoint:/m.test(block) && !dummies.some((name) => block.startsWith(name)),
  );
}

/** The output of `gym env validate --json`. */
type ValidationReport =
  | { valid: true; servers: { name: string; type: string; implementation: string }[]; warnings: string[] }
  | { valid: false; error: { class: string; code: string; message: string } };

/** Validates and returns a report; a bad override is still an error, like on every other command. */
async function validationReport(
  validate: () => Promise<{ config: ResolvedConfig; warnings: string[] }>,
): Promise<ValidationReport> {
  try {
    const { config, warnings } = await validate();
    return {
      valid: true,
      servers: config.servers.map(({ name, type, implementation }) => ({ name, type, implementation })),
      warnings,
    };
  } catch (error) {
    if (!(error instanceof ConfigError) || error instanceof OverrideError) throw error;
    return { valid: false, error: { class: error.name, code: error.code, message: error.message } };
  }
}

interface Findings {
  /** Problems that prevent the servers from starting. */
  problems: string[];
  warnings: string[];
  /** Servers whose code is missing or cannot be loaded, or that lack values. */
  notStartable: string[];
}

/**
 * Finds problems that a config which resolves would have at the start. Invalid values are an error. Missing code, or
 * code that cannot be loaded, is a warning, because it may be complete on another machine, and an error with `deep`.
 */
async function checkServers(
  config: ResolvedConfig,
  { roots, installRoot }: Pick<CommandContext, "roots" | "installRoot">,
  { deep, strict }: { deep: boolean; strict: boolean },
): Promise<Omit<Findings, "problems">> {
  const found: Findings = { problems: [...hostingProblems(config)], warnings: [], notStartable: [] };
  for (const server of config.servers) {
    if (server.implementation === DUMMY_MODEL) continue;
    const block = blockOf(server, deep);
    const faults: string[] = [];
    const code = findCode(server, roots, faults);
    const definition = block && code && (await loadCode(code, installRoot, faults));
    (deep ? found.problems : found.warnings).push(...faults);
    if (faults.length > 0) found.notStartable.push(server.name);
    if (!block) continue;
    if (deep && code?.language === "python")
      found.warnings.push(`Server '${server.name}' is written in Python: its code is not checked.`);
    checkBlock(server, block, definition, found, deep || strict);
  }
  if (found.problems.length === 0) return { ...found, warnings: [...new Set(found.warnings)] };
  const list = found.problems.map((problem) => `  - ${problem.replaceAll("\n", "\n    ")}`).join("\n");
  throw new ConfigError(`These servers cannot be started:\n${citePositions(list, config)}`);
}

function* hostingProblems(config: ResolvedConfig): Generator<string> {
  const hosting = config.get("hosting") ?? null;
  if (hosting !== null && !HOSTING.some((known) => known === hosting))
    yield `hosting: must be one of ${HOSTING.join(", ")}, not ${JSON.stringify(hosting)}`;
}

/** Undefined when a value refers to something that is not set yet: a config without its model is valid. */
function blockOf(server: ServerInstance, deep: boolean): Record<string, unknown> | undefined {
  try {
    return server.config;
  } catch (error) {
    if (deep || !(error instanceof ConfigError)) throw error;
    return undefined;
  }
}

function findCode(
  server: ServerInstance,
  roots: readonly string[],
  faults: string[],
): ServerCode | undefined {
  const { name, type, entrypoint } = server;
  const implementation = currentComponentName(server.implementation);
  try {
    return locateServer({ name, type, implementation, entrypoint }, roots);
  } catch (error) {
    faults.push(errorMessage(error));
    return undefined;
  }
}

/** Undefined without a schema to check the block against. */
async function loadCode(
  code: ServerCode,
  installRoot: string,
  faults: string[],
): Promise<ServerDefinition | undefined> {
  if (code.language === "python") return undefined;
  try {
    return await loadDefinition(code.entry, installRoot);
  } catch (error) {
    faults.push(errorMessage(error));
    return undefined;
  }
}

/** Checks a block against the schema of its server or, if that is unknown, only the keys that every server has. */
function checkBlock(
  { name, type, implementation }: ServerInstance,
  config: Record<string, unknown>,
  definition: ServerDefinition | undefined,
  { problems, warnings, notStartable }: Findings,
  mustBeComplete: boolean,
): void {
  const at = `${name}.${type}.${implementation}.`;
  const unusable = readHostSettings(type, config).problems;
  problems.push(...unusable.map((problem) => at + problem));
  if (!definition) {
    for (const sentence of misspeltHostKeys(type, config)) warnings.push(at + sentence);
    return;
  }
  const log = { ...silentLogger, warn: (line: string) => void warnings.push(line) };
  try {
    checkDefinition(definition, name, log);
    if (unusable.length === 0) readConfig(definition, { name, implementation, config, log });
  } catch (error) {
    const isIncomplete = error instanceof ConfigMisfit && error.isIncomplete && !mustBeComplete;
    (isIncomplete ? warnings : problems).push(errorMessage(error));
    if (isIncomplete) notStartable.push(name);
  }
}
