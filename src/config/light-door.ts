/** Tables, nodes and errors of the config, without what resolves one. */

export { citePositions } from "./cite-positions.ts";
export { datasetTypes, licenses } from "./dataset-schema.ts";
export { impliedConfig, impliedEntry } from "./implied-config.ts";
export { childOf, formatPath, type KeyPath, rawNodeAt } from "./key-path.ts";
export {
  type ConfigNode,
  DEFAULT_ORIGIN,
  type DictNode,
  isMissing,
  literalText,
  numberOfNode,
  positionOf,
  scalar,
  textOfNode,
} from "./node.ts";
export { nodeFromPlain, plainFromNode } from "./plain-data.ts";
export { reservedKeys } from "./reserved-keys.ts";
export { aliasedInstance, aliasedPath, currentComponentName, olderInstanceNames } from "./servers/aliases.ts";
export { isSandboxProvider, type SandboxProviderName, sandboxProviders } from "./servers/sandbox-blocks.ts";
export { domains, isServerType, type ServerType, serverTypes } from "./servers/server-types.ts";
