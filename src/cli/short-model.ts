import type { Override } from "../config/door.ts";
import { findExistingPath } from "../config/paths.ts";
import type { CliIo } from "./command.ts";
import { UsageError } from "./errors.ts";

interface ModelProvider {
  /** Name or NAME/FLAVOR of its model server. */
  readonly server: string;
  /** The usual environment variables of its key, in order. */
  readonly keys: readonly [string, ...string[]];
  /** The usual environment variable of another address, with the config key that it sets. */
  readonly address?: { readonly variable: string; readonly key: string; readonly default?: string };
}

/** Providers whose models can be named `provider/model`. */
const PROVIDERS: Readonly<Record<string, ModelProvider>> = {
  openai: {
    server: "openai_model",
    keys: ["OPENAI_API_KEY"],
    address: {
      variable: "OPENAI_BASE_URL",
      key: "policy_base_url",
      default: "https://api.openai.com/v1",
    },
  },
  anthropic: {
    server: "anthropic_model",
    keys: ["ANTHROPIC_API_KEY"],
    address: {
      variable: "ANTHROPIC_BASE_URL",
      key: "policy_model.responses_api_models.anthropic_model.base_url",
    },
  },
  google: { server: "inference_provider/gemini", keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] },
  openrouter: { server: "inference_provider/openrouter", keys: ["OPENROUTER_API_KEY"] },
  together: { server: "inference_provider/together", keys: ["TOGETHER_API_KEY"] },
  fireworks: { server: "inference_provider/fireworks", keys: ["FIREWORKS_API_KEY"] },
  deepinfra: { server: "inference_provider/deepinfra", keys: ["DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"] },
  nebius: { server: "inference_provider/nebius", keys: ["NEBIUS_API_KEY"] },
  baseten: { server: "inference_provider/baseten", keys: ["BASETEN_API_KEY"] },
  friendli: { server: "inference_provider/friendli", keys: ["FRIENDLI_TOKEN"] },
  hf: { server: "inference_provider/hf_inference", keys: ["HF_TOKEN"] },
};

/** What `-m openai/gpt-5.2` stands for. */
export interface ShortModel {
  /** The value for `--model-type`. */
  readonly server: string;
  readonly overrides: readonly Override[];
}

/**
 * The model server, name, address and key of `provider/model`. Undefined if the name has no known provider: a name with a
 * slash may also be that of a model behind another server.
 */
export function shortModel(name: string, env: CliIo["env"], hasKey: boolean): ShortModel | undefined {
  const [prefix = "", model] = name.split(/\/(.*)/s);
  const provider = Object.hasOwn(PROVIDERS, prefix) ? PROVIDERS[prefix] : undefined;
  if (provider === undefined || !model) return undefined;
  const source = `--model ${name}`;
  const set = (path: string, value: string, from = source): Override => ({
    op: "++",
    path,
    value,
    source: from,
  });
  const overrides = [set("policy_model_name", model)];
  const { address } = provider;
  const url = address && (env[address.variable]?.trim() || address.default);
  if (address && url) overrides.push(set(address.key, url));
  if (!hasKey) overrides.push(set("policy_api_key", keyOf(name, provider, env)));
  return { server: provider.server, overrides };
}

function keyOf(name: string, { keys }: ModelProvider, env: CliIo["env"]): string {
  for (const variable of keys) {
    const key = env[variable]?.trim();
    if (key) return key;
  }
  throw new UsageError(
    `argument -m/--model: ${name} needs an API key, and ${keys.join(" or ")} is not set. Set it in the environment, or pass --model-api-key KEY.`,
  );
}

/** Whether one of the config files, or a file that it includes, has the model under test. */
export async function definesModel(
  files: readonly string[],
  roots: readonly string[],
  env: CliIo["env"],
): Promise<boolean> {
  const { readConfigFile, readConfigPaths } = await import("../config/door.ts");
  const queue = [...files];
  for (const name of queue) {
    const file = findExistingPath(name, roots);
    // The config reports a file that is missing.
    if (file === undefined) continue;
    const root = readConfigFile(file);
    if (root.entries.has("policy_model")) return true;
    for (const { text } of readConfigPaths(root, { ...env })) if (!queue.includes(text)) queue.push(text);
  }
  return false;
}
