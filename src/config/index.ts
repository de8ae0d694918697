/**
 * The configuration system for programs: resolve a config, ask it for values and servers, and read its errors.
 *
 * @module
 */

export { maskSecrets } from "../base/secrets.ts";
export { type ConfigMetadata, readConfigMetadata, resolveLeniently } from "./config-metadata.ts";
export {
  AlmostServerError,
  ConfigError,
  type ConfigErrorOptions,
  ConfigInterpolationError,
  ConfigMissingValuesError,
  ConfigPathNotFoundError,
  formatPosition,
  InheritPathNotFoundError,
  MalformedConfigPathsError,
  NoServerInstancesError,
  OverrideError,
  type Position,
  place,
  RegistryError,
  ServerRefNotFoundError,
  WorkloadError,
} from "./errors.ts";
export { findPath, findServerDirectory, installRoot, searchRoots } from "./paths.ts";
export {
  type Explanation,
  loadConfigFromEnv,
  type Override,
  type ResolvedConfig,
  type ResolveOptions,
  resolveConfig,
  type ServerInstance,
  type ServerType,
} from "./resolve.ts";
