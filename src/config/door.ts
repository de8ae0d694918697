/** Reading and resolving a config. */

export { type ConfigMetadata, metadataOf, readConfigMetadata, resolveLeniently } from "./config-metadata.ts";
export { Interpolator } from "./interpolation/interpolate.ts";
export { escapeInterpolations } from "./interpolation/interpolation-grammar.ts";
export { loadFiles, readConfigPaths } from "./load-includes.ts";
export { mergeDicts } from "./merge.ts";
export { checkMissingValues } from "./missing-values.ts";
export { applyOverrides } from "./overrides/apply-overrides.ts";
export { quoteOverride, writeOverrides } from "./overrides/override-write.ts";
export { readConfigFile, readConfigText } from "./read-config-file.ts";
export {
  type Explanation,
  type Override,
  type ResolvedConfig,
  type ResolveOptions,
  resolveConfig,
  type ServerInstance,
} from "./resolve.ts";
export { FieldCheck, integerFrom, integerOf, type SchemaProblem } from "./schema-problems.ts";
export {
  type Environment,
  environmentOfAgent,
  environmentsOf,
  RELAY,
} from "./servers/environment-servers.ts";
export { DUMMY_MODEL } from "./servers/no-model.ts";
export { serverBlocks } from "./servers/server-schema.ts";
export { writeYaml } from "./yaml/write.ts";
