/**
 * What verifiers of several environments share: boxed answers, choices, and CSV and YAML as Python reads them.
 *
 * @module
 */
export * from "./boxed.ts";
export { parseCsv } from "./csv.ts";
export { FormatError } from "./format-error.ts";
export {
  entriesOf,
  hasKey,
  isMapping,
  type Mapping,
  mappingOf,
  memberAt,
  OpaqueValue,
  setMember,
  sizeOf,
} from "./mapping.ts";
export * from "./multiple-choice.ts";
export { parseYamlValue } from "./yaml.ts";
