import { PyFloat, parsePyFloat, parsePyInt } from "nemo-gym/python";
import { entriesOf, isMapping, type Mapping, mappingOf, memberAt } from "nemo-gym/verify";

/** Data nested deeper than this is refused, as Python's recursion refuses it. */
const maxDepth = 400;

/** A schema or a value that coercion trips over. */
export class CoercionError extends Error {}

/** The value of a text that should be a number or a boolean; the text itself when it is none. */
function typed(text: string, type: unknown): unknown {
  switch (type) {
    case "integer": {
      const value = parsePyInt(text);
      if (value === undefined) return text;
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    }
    case "number": {
      const value = parsePyFloat(text);
      if (value === undefined) return text;
      return Number.isInteger(value) ? new PyFloat(value) : value;
    }
    case "boolean":
      return booleans.get(text.toLowerCase()) ?? text;
    default:
      return text;
  }
}

const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** Gives XML data, which knows only texts, the types the schema asks for. */
export function coerceXml(data: unknown, schema: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw new CoercionError("the data is nested too deeply");
  if (!isMapping(schema)) return data;
  const type = memberAt(schema, "type");
  if (type === "object" && isMapping(data)) return coerceMembers(data, memberAt(schema, "properties"), depth);
  if (type === "array") {
    const items = memberAt(schema, "items") ?? {};
    return listOf(data).map((item) => coerceXml(item, items, depth + 1));
  }
  if (data === null && type === "string") return "";
  return typeof data === "string" ? typed(data, type) : data;
}

function coerceMembers(data: Mapping, properties: unknown, depth: number): Mapping {
  if (!isMapping(properties)) return data;
  return mappingOf(
    entriesOf(data).map(([name, value]) => {
      const schema = memberAt(properties, name);
      return [name, schema === undefined ? value : coerceXml(value, schema, depth + 1)];
    }),
  );
}

/** Where a list is expected, an element around its items is only a wrapper and a single item a list of one. */
function listOf(data: unknown): readonly unknown[] {
  const entries = isMapping(data) ? entriesOf(data) : [];
  const inner = entries.length === 1 ? entries[0]?.[1] : data;
  if (Array.isArray(inner)) return inner;
  return inner === null ? [] : [inner];
}

/** Gives the cells of CSV rows the types the schema asks for. */
export function coerceCsv(rows: readonly Mapping[], schema: unknown): Mapping[] {
  const items = objectOf(memberAt(objectOf(schema), "items") ?? schema);
  const properties = objectOf(memberAt(items, "properties") ?? {});
  return rows.map((row) =>
    mappingOf(
      entriesOf(row).map(([name, cell]) => {
        const type = memberAt(objectOf(memberAt(properties, name) ?? {}), "type") ?? "string";
        return [name, coerceCell(cell, type)];
      }),
    ),
  );
}

function objectOf(value: unknown): Mapping {
  if (!isMapping(value)) throw new CoercionError("the schema of rows and columns must be made of objects");
  return value;
}

function coerceCell(cell: unknown, type: unknown): unknown {
  const empty = cell === null || cell === "";
  if (!Array.isArray(type)) return empty || typeof cell !== "string" ? cell : typed(cell, type);
  if (empty && type.includes("null")) return null;
  for (const candidate of type) {
    if (candidate === "null") continue;
    const value = coerceCell(cell, candidate);
    if (typeof value !== "string" || candidate === "string") return value;
  }
  return cell;
}
