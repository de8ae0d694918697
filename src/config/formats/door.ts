/** YAML and CSV as Python reads them. */

export { csvRecords, parseCsv } from "./csv.ts";
export { FormatError } from "./errors.ts";
export {
  entriesOf,
  hasKey,
  isMapping,
  type Mapping,
  mappingOf,
  memberAt,
  OpaqueValue,
  sizeOf,
} from "./mapping.ts";
export { parseYamlValue } from "./yaml.ts";
