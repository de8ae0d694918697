import { ConfigInterpolationError, ConfigMissingValuesError } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { formatPath, type KeyPath, scalarsIn } from "./key-path.ts";
import { type ConfigNode, type DictNode, interpolationText, isMissing, positionOf, scalar } from "./node.ts";

/** Number of examples in the message. */
const EXAMPLES = 3;

/** The path of a resources server that is missing in an agent. */
const UNBOUND_AGENT = /\.responses_api_agents\..*\.resources_server\.name$/;
const AGENT_HINT =
  "\nAn agent without a resources server can take the place of an environment's own: select it with --agent-type (in code: replace_agents), " +
  "together with an environment whose agent has a resources_server.";

/** Throws if a mandatory value is still `???`. */
export function checkMissingValues(root: ConfigNode): void {
  const missing = [...scalarsIn(root)].filter(({ node }) => isMissing(node));
  const [first] = missing;
  if (first === undefined) return;
  const paths = missing.map(({ path }) => formatPath(path));
  throw new ConfigMissingValuesError(
    `${paths.length} required config value(s) are not set:\n${paths.map((path) => `  - ${path}\n`).join("")}` +
      `Set them in a config file or in env.yaml, or pass overrides such as:\n` +
      paths
        .slice(0, EXAMPLES)
        .map((path) => `  ++${path}=<value>`)
        .join("\n") +
      (paths.some((path) => UNBOUND_AGENT.test(path)) ? AGENT_HINT : ""),
    { position: positionOf(first.node) },
  );
}

/** Replaces values that are `???`, and interpolations that cannot be resolved, by `standIn`. */
export function fillUnset(root: DictNode, standIn: string, env: NodeJS.ProcessEnv): void {
  fillMembers(root, [], standIn, (node, path) => {
    if (isMissing(node)) return true;
    if (interpolationText(node) === undefined) return false;
    try {
      new Interpolator(root, env).resolveDeep(node, path);
      return false;
    } catch (error) {
      if (error instanceof ConfigInterpolationError) return true;
      throw error;
    }
  });
}

function fillMembers(
  container: ConfigNode,
  path: KeyPath,
  standIn: string,
  isUnset: (node: ConfigNode, path: KeyPath) => boolean,
): void {
  if (container.kind === "scalar") return;
  const members = container.kind === "dict" ? container.entries : container.items.entries();
  for (const [key, member] of members) {
    const here = [...path, container.kind === "dict" ? String(key) : Number(key)];
    if (member.kind !== "scalar") fillMembers(member, here, standIn, isUnset);
    else if (isUnset(member, here)) {
      const filled = scalar(standIn, member.origin);
      if (container.kind === "dict") container.entries.set(key, filled);
      else container.items[Number(key)] = filled;
    }
  }
}
