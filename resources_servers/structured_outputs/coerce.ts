import { PyFloat, parsePyFloat, parsePyInt } from "nemo-gym/python";
import { entriesOf, isMapping, type Mapping, mappingOf, memberAt } from "nemo-gym/verify";

/** Maximum nesting of data; Python's recursion limit rejects deeper data. */
const maxDepth = 400;

/** Coercion failed on a schema or a value. */
export class CoercionError extends Error {}

/** The number or boolean in a text; the text itself if it is neither. */
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

/** Converts XML data, which consists of strings only, to the types of the schema. */
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

/** Where a list is expected, an element around the items is a wrapper, and a single item is a list with one item. */
function listOf(data: unknown): readonly unknown[] {
  const entries = isMapping(data) ? entriesOf(data) : [];
  const inner = entries.length === 1 ? entries[0]?.[1] : data;
  if (Array.isArray(inner)) return inner;
  return inner === null ? [] : [inner];
}

/** Converts the cells of CSV rows to the types of the schema. */
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
