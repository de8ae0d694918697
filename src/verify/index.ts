/**
 * Reading answers out of what models write: boxed answers, choices, structured formats, and JSON Schema to hold them against.
 *
 * @module
 */
export * from "./boxed.ts";
export { parseCsv } from "./formats/csv.ts";
export { FormatError } from "./formats/format-error.ts";
export { mappingOf } from "./formats/mapping.ts";
export { parseToml } from "./formats/toml.ts";
export { parseXml } from "./formats/xml.ts";
export { parseYamlValue } from "./formats/yaml.ts";
export { schemaFault } from "./json-schema/validate.ts";
export { entriesOf, isMapping, type Mapping, memberAt, OpaqueValue } from "./json-schema/values.ts";
export * from "./multiple-choice.ts";
