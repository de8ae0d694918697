import { isTruthy, JsonTextError, loads } from "nemo-gym/python";
import { csvRecords, FormatError, isMapping, parseCsv, parseYamlValue, sizeOf } from "nemo-gym/verify";
import { parseToml } from "../../libraries/structured-text/toml.ts";
import { parseXml } from "../../libraries/structured-text/xml.ts";

export type Parsed = { value: unknown } | { error: "unsupported_type" | "parse_error"; message: string };

const parsers: Readonly<Record<string, (code: string) => unknown>> = {
  json: (code) => loads(code, { allowNonFinite: true }),
  yaml: parseYamlValue,
  toml: parseToml,
  xml: parseXml,
  csv: (code) => ({ csv_headers: csvRecords(code)[0] ?? [], csv_rows: parseCsv(code) }),
};

/** Parses code of the given type. An empty value, such as `{}` or 0, counts as an error. */
export function parseOutput(code: string, type: string): Parsed {
  const parse = Object.hasOwn(parsers, type) ? parsers[type] : undefined;
  if (!parse) return { error: "unsupported_type", message: `Unsupported output type: ${type}` };
  try {
    const value = parse(code);
    const holds = isMapping(value) ? sizeOf(value) > 0 : isTruthy(value);
    return holds ? { value } : { error: "parse_error", message: "Parsed result is empty" };
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof JsonTextError)) throw error;
    return { error: "parse_error", message: error.message.slice(0, 200) };
  }
}
