import { z } from "zod";
import { callback, checkOptions, type OptionTable, record, text, texts } from "../base/check-options.ts";
import { isObject } from "../base/python/json/door.ts";
import { type ResolvedConfig, type ResolveOptions, resolveConfig } from "../config/door.ts";
import {
  type AgentDefinition,
  type GymnasiumServerDefinition,
  isServerDefinition,
  type ModelDefinition,
  type ResourcesServerDefinition,
  type ServerDefinition,
  type ServerType,
} from "../servers/definitions/door.ts";

/** A model server of the package, and the endpoint that it calls. */
export interface ModelChoice {
  /** A folder of `responses_api_models/`, such as `openai_model` (default), `vllm_model` or `random_model`. */
  type?: string | undefined;
  /** Base URL of the endpoint. */
  url?: string | undefined;
  /** Name of the model. */
  name?: string | undefined;
  apiKey?: string | undefined;
}

/**
 * Sources of a config. All members are optional and are merged in the order of this list: later ones take precedence.
 */
export interface RunSource {
  /** Config files, looked up in the working directory and in the package. */
  configPaths?: readonly string[];
  /** `env.yaml` with the user's own values. Not read unless given. */
  envFile?: string;
  /** An environment that this program defines. Without `agent` it gets `simple_agent`, or `gymnasium_agent` for a game. */
  environment?: ResourcesServerDefinition | GymnasiumServerDefinition;
  /** The agent that solves the environment: a definition, or a folder of `responses_api_agents/`. */
  agent?: AgentDefinition | string;
  /** The model under test, called `policy_model`: a definition, or a model server of the package. */
  model?: ModelDefinition | ModelChoice;
  /** Instance name of `environment`; the agent is called `<name>_agent`. Default: `environment`. */
  name?: string;
  /** Config values, as a config file would hold them. */
  values?: Readonly<Record<string, unknown>>;
  /** Overrides as on the command line: `"++policy_model_name=gpt-4.1"`. */
  overrides?: ResolveOptions["overrides"];
  /** Directory that relative paths start from. Default: the working directory. */
  cwd?: string;
  /** Environment variables. Default: those of the process. */
  env?: NodeJS.ProcessEnv;
  /** Receives warnings about the config. */
  onNotice?: (text: string) => void;
}

/** A resolved config, or the sources to resolve one from. */
export type RunConfig = ResolvedConfig | RunSource;

/** A config, and the definitions of its servers that the program supplies, by instance name. */
export interface ResolvedRun {
  config: ResolvedConfig;
  definitions: ReadonlyMap<string, ServerDefinition>;
}

const definitionOf = (type: ServerType, makers: string) =>
  z.custom((value) => isServerDefinition(value) && value.type === type, `must be a definition by ${makers}`);
const ENVIRONMENT = definitionOf("resources_servers", "defineResourcesServer or defineGymnasiumServer");
const AGENT = definitionOf("responses_api_agents", "defineAgent");
const MODEL = definitionOf("responses_api_models", "defineModel");

const sourceTable: OptionTable<RunSource> = {
  configPaths: texts.optional(),
  envFile: text.optional(),
  environment: ENVIRONMENT.optional(),
  agent: z.union([AGENT, z.string()], "must be a definition by defineAgent, or a name").optional(),
  model: z
    .union([MODEL, record], "must be a definition by defineModel, or { type, url, name, apiKey }")
    .optional(),
  name: text.optional(),
  values: record.optional(),
  overrides: z.array(z.unknown(), "must be a list").optional(),
  cwd: text.optional(),
  env: record.optional(),
  onNotice: callback.optional(),
};
const modelTable: OptionTable<ModelChoice> = {
  type: text.optional(),
  url: text.optional(),
  name: text.optional(),
  apiKey: text.optional(),
};

/** The implementation name of servers without a folder. */
const INLINE = "inline";

/** Resolves the config of a run; `noModel` accepts one without a model. */
export async function resolveRun(
  given: RunConfig,
  { noModel = false }: { noModel?: boolean } = {},
): Promise<ResolvedRun> {
  if (isResolved(given)) return { config: given, definitions: new Map() };
  checkOptions("config", sourceTable, given);
  if (given.model && !isServerDefinition(given.model)) checkOptions("model", modelTable, given.model);
  const { configPaths = [], envFile, values, cwd, env, overrides, onNotice } = given;
  const inline = inlineServers(given);
  const config = await resolveConfig({
    initial: {
      ...merged(inline.values, values ?? {}),
      ...((configPaths.length > 0 || inline.configPaths.length > 0) && {
        config_paths: [...configPaths, ...inline.configPaths],
      }),
    },
    skipEnvYaml: envFile === undefined,
    envYamlPath: envFile,
    overrides,
    cwd,
    env,
    onNotice: onNotice && ((text: string) => onNotice(text)),
    requireServers: true,
    noModel: noModel && given.model === undefined,
  });
  return { config, definitions: inline.definitions };
}

function isResolved(config: RunConfig): config is ResolvedConfig {
  return isObject(config) && "toObject" in config && "servers" in config;
}

/** Values of the program change single keys of the blocks of its definitions. */
function merged(base: Record<string, unknown>, own: Record<string, unknown>): Record<string, unknown> {
  const result = { ...base };
  for (const [key, value] of Object.entries(own)) {
    const old = result[key];
    result[key] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}

interface InlineServers {
  values: Record<string, unknown>;
  configPaths: string[];
  definitions: Map<string, ServerDefinition>;
}

function inlineServers({ environment, agent, model, name = "environment" }: RunSource): InlineServers {
  const definitions = new Map<string, ServerDefinition>();
  const values: Record<string, unknown> = {};
  const configPaths: string[] = [];
  const add = (instance: string, type: ServerType, implementation: string, block: object) => {
    values[instance] = { [type]: { [implementation]: { entrypoint: "app.ts", ...block } } };
  };
  if (environment !== undefined) {
    definitions.set(name, environment);
    add(name, environment.type, INLINE, { domain: "other" });
  }
  if (environment !== undefined || agent !== undefined) {
    const preset = environment?.kind === "gymnasium" ? "gymnasium_agent" : "simple_agent";
    const instance = `${name}_agent`;
    if (isServerDefinition(agent)) definitions.set(instance, agent);
    add(instance, "responses_api_agents", isServerDefinition(agent) ? INLINE : (agent ?? preset), {
      resources_server: { type: "resources_servers", name },
      model_server: { type: "responses_api_models", name: "policy_model" },
    });
  }
  if (isServerDefinition(model)) {
    definitions.set("policy_model", model);
    add("policy_model", model.type, INLINE, {});
  } else if (model !== undefined) {
    const { type = "openai_model", url, name: modelName, apiKey } = model;
    configPaths.push(`responses_api_models/${type}/configs/${type}.yaml`);
    if (url !== undefined) values["policy_base_url"] = url;
    if (modelName !== undefined) values["policy_model_name"] = modelName;
    if (apiKey !== undefined) values["policy_api_key"] = apiKey;
  }
  return { values, configPaths, definitions };
}
