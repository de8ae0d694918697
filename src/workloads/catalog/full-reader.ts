/**
 * The whole config system, for files that are not plain and configs that have to be composed. Loading it takes longer than
 * most listings, which do without.
 *
 * @module
 */
export { readConfigMetadata } from "../../config/config-metadata.ts";
export { loadFiles, readConfigPaths } from "../../config/load-includes.ts";
export { readConfigFile } from "../../config/read-config-file.ts";
