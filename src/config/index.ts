/**
 * The configuration system for programs: resolve a config, ask it for values and servers, and read its errors.
 *
 * @module
 */

export { ConfigError } from "./errors.ts";
export {
  type Override,
  type ResolvedConfig,
  type ResolveOptions,
  resolveConfig,
  type ServerInstance,
  type ServerType,
} from "./resolve.ts";
