import type { FlagTable, NumberRange, PositionalTable, SelectorKind } from "./command.ts";

/** A flag whose text only the command reads. */
export function textFlag(metavar: string, help: string) {
  return { kind: "text", metavar, help } as const;
}

/** A number that only the command reads. */
export function numberFlag(metavar: string, range: NumberRange, help: string) {
  return { kind: "number", metavar, range, help } as const;
}

/** Config files; joined with the selectors into one `config_paths`. */
export const configFlag = {
  config: {
    kind: "config",
    metavar: "PATH",
    repeatable: true,
    completes: "file",
    help: "config file; several may be given, also separated by commas",
  },
} as const satisfies FlagTable;

function selector(kind: SelectorKind, help: string) {
  return { kind: "selector", selector: kind, metavar: "NAME[/FLAVOR]", help } as const;
}

function severalOf(kind: SelectorKind, help: string) {
  return { ...selector(kind, help), repeatable: true } as const;
}

export const benchmarkFlag = {
  benchmark: severalOf("benchmark", "use the config of this benchmark; several may be given"),
} as const satisfies FlagTable;

/** All selectors in merge order, so that the model's config overrides the benchmark's. */
export const selectorFlags = {
  ...benchmarkFlag,
  environment: severalOf("environment", "use the config of this environment; several may be given"),
  "resources-server": severalOf(
    "resources-server",
    "use the config of this resources server; several may be given",
  ),
  "model-type": selector("model-type", "use the config of this model server"),
} as const satisfies FlagTable;

/** Replaces the agent of the environment. */
const agentTypeFlags = {
  "agent-type": {
    ...selector("agent-type", "run the environment with this agent instead of its own"),
    key: "replace_agents",
    sets: true,
  },
  "allow-unsupported-pairing": {
    kind: "switch",
    key: "allow_unsupported_pairing",
    help: "run an agent that the environment does not list as supported",
  },
} as const satisfies FlagTable;

export const searchDirFlag = {
  "search-dir": {
    kind: "search-dir",
    metavar: "DIR",
    repeatable: true,
    completes: "directory",
    help: "look for configs and components here first",
  },
} as const satisfies FlagTable;

/** What a command needs to resolve a config with servers. */
export const configFlags = { ...configFlag, ...selectorFlags, ...searchDirFlag } as const;

/** The same for commands that can replace the agent. */
export const agentConfigFlags = {
  ...configFlag,
  ...selectorFlags,
  ...agentTypeFlags,
  ...searchDirFlag,
} as const;

/** The model under test. */
export const modelFlags = {
  model: {
    kind: "text",
    short: "m",
    key: "policy_model_name",
    metavar: "NAME",
    help: "name of the model; PROVIDER/NAME (openai, anthropic, google, openrouter, …) also chooses the model server, with the key from its usual environment variable",
  },
  "model-url": {
    kind: "text",
    key: "policy_base_url",
    metavar: "URL",
    help: "base URL of the model's endpoint",
  },
  "model-api-key": { kind: "text", key: "policy_api_key", metavar: "KEY", help: "API key for that endpoint" },
} as const satisfies FlagTable;

/** For listings; `+json=true` is the older spelling of the same. */
export const jsonFlag = {
  json: { kind: "switch", key: "json", help: "print JSON" },
} as const satisfies FlagTable;

/** For commands that print events while they run. */
export const jsonLinesFlag = {
  json: { kind: "switch", help: "print events as JSON lines" },
} as const satisfies FlagTable;

/** `--resources-server NAME` if it names a folder instead of selecting a config. */
export const serverFolderFlag = {
  "resources-server": {
    kind: "text",
    key: "entrypoint",
    prefix: "resources_servers/",
    metavar: "NAME",
    help: "the resources server (short for +entrypoint=resources_servers/NAME)",
  },
} as const satisfies FlagTable;

/** The environment or benchmark of a command. */
export const workloadName = {
  NAME: {
    optional: true,
    key: "onboarding_name",
    completes: ["environments", "benchmarks"],
    help: "an environment or benchmark with a manifest",
  },
} as const satisfies PositionalTable;

export const workloadKindFlag = {
  kind: {
    kind: "text",
    key: "catalog_kind",
    choices: ["environment", "benchmark"],
    help: "which one, if an environment and a benchmark have the same name",
  },
} as const satisfies FlagTable;
