import { getCloseMatches } from "../python/difflib.ts";
import { type ConfigNode, type DictNode, interpolationText } from "./node.ts";

/** The model under test: keys that configs of models refer to, with the flags that set them. */
const MODEL_KEYS = new Map([
  ["policy_base_url", "--model-url URL"],
  ["policy_api_key", "--model-api-key KEY"],
  ["policy_model_name", "--model NAME"],
]);

/** What to do about a reference to a key that is not there. */
export function remedyFor(key: string, root: DictNode): string {
  if (!MODEL_KEYS.has(key))
    return `Set it in a config file or env.yaml, or pass an override: ++${key}=<value>`;
  const missing = [...MODEL_KEYS.keys()].filter(
    (name) => !root.entries.has(name) && isReferenced(root, name),
  );
  const listed =
    missing.length > 1 ? `The model under test is not set: ${missing.join(", ")} are missing.\n` : "";
  const flags = missing.map((name) => MODEL_KEYS.get(name)).join(" ");
  const overrides = missing.map((name) => `++${name}=<value>`).join(" ");
  const keyless = missing.includes("policy_api_key")
    ? " An endpoint without a key, or one whose key is in `api_key_file`, takes ++policy_api_key=null."
    : "";
  return `${listed}Give it with ${flags}, in env.yaml, or as ${overrides}.${keyless}`;
}

/** ` Did you mean 'x'?`, unless the key is a well-known one that is not set. */
export function nearestKey(key: string, names: readonly string[]): string | undefined {
  return MODEL_KEYS.has(key) ? undefined : getCloseMatches(key, names, 1)[0];
}

function isReferenced(node: ConfigNode, key: string): boolean {
  if (node.kind === "list") return node.items.some((item) => isReferenced(item, key));
  if (node.kind === "dict") return [...node.entries.values()].some((member) => isReferenced(member, key));
  return interpolationText(node)?.includes(`\${${key}}`) ?? false;
}
