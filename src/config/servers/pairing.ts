import { ConfigError } from "../errors.ts";
import { childOf } from "../key-path.ts";
import type { ConfigNode } from "../node.ts";
import { textOf } from "../node.ts";
import type { ServerBlock } from "./server-schema.ts";

interface Rejection {
  agent: ServerBlock;
  resources: string;
  allowed: string[];
}

/** Refuses agents that a resources server does not list in `allowed_agents`. */
export function checkPairing(
  servers: readonly ServerBlock[],
  env: NodeJS.ProcessEnv,
  allowed: boolean,
): void {
  if (allowed || !["", "0", "false", undefined].includes(env["NEMO_GYM_ALLOW_UNSUPPORTED_PAIRING"])) return;
  const rejections: Rejection[] = [];
  for (const agent of servers.filter(({ type }) => type === "responses_api_agents")) {
    const reference = agent.block.entries.get("resources_server");
    const resources = reference === undefined ? undefined : textOf(childOf(reference, "name")?.node);
    const server = servers.find(({ type, name }) => type === "resources_servers" && name === resources);
    const list = listOf(server?.block.entries.get("allowed_agents"));
    if (resources !== undefined && list.length > 0 && !list.includes(agent.implementation))
      rejections.push({ agent, resources, allowed: list });
  }
  if (rejections.length === 0) return;
  const lines = rejections.map(
    ({ agent, resources, allowed: list }) =>
      `  - '${agent.name}' is a ${agent.implementation}; '${resources}' accepts ${list.join(", ")}`,
  );
  const [first, ...others] = rejections;
  const common = (first?.allowed ?? []).filter((name) =>
    others.every(({ allowed: list }) => list.includes(name)),
  );
  const remedy =
    common.length > 0
      ? `Select one of: ${common.join(", ")} (--agent-type).`
      : "No single agent satisfies all of them.";
  throw new ConfigError(
    `These agents do not fit their environments:\n${lines.join("\n")}\n${remedy} ` +
      "To run the pairing anyway, use --allow-unsupported-pairing or NEMO_GYM_ALLOW_UNSUPPORTED_PAIRING=1.",
    { code: "CONFIG_PAIRING" },
  );
}

/** A bare text counts as a list of one. */
function listOf(node: ConfigNode | undefined): string[] {
  const items = node?.kind === "list" ? node.items : node === undefined ? [] : [node];
  return items.map(textOf).filter((text) => text !== undefined);
}
