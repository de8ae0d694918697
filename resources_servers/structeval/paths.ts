import { parsePyInt } from "nemo-gym/python";
import { hasKey, isMapping, memberAt } from "nemo-gym/verify";

const CSV_HEADER = "csv::";
const TOKEN = /\[[^\]]*\]|(?:`[^`]*(?:`|$)|[^.[`])+|\[/g;

/** The steps of a path such as `a.b[0]`. Backticks quote dots and brackets. Undefined if a bracket is not closed. */
export function tokenizePath(path: string): string[] | undefined {
  if (path.startsWith(CSV_HEADER)) return [path];
  const tokens: string[] = path.match(TOKEN) ?? [];
  if (tokens.includes("[")) return undefined;
  return tokens.map((token) => token.replaceAll("`", "")).filter((token) => token !== "");
}

/** Whether a path leads to a value. `*` stands for any element of a list. */
export function pathExists(data: unknown, path: string): boolean {
  const tokens = tokenizePath(path);
  return tokens !== undefined && leads(data, tokens);
}

function leads(node: unknown, [token, ...rest]: readonly string[]): boolean {
  if (token === undefined) return true;
  if (token.startsWith(CSV_HEADER) && isMapping(node) && hasKey(node, "csv_headers")) {
    const headers = memberAt(node, "csv_headers");
    return Array.isArray(headers) && headers.includes(token.slice(CSV_HEADER.length));
  }
  if (token === "*") return Array.isArray(node) && node.some((item) => leads(item, rest));
  if (token.startsWith("[") && token.endsWith("]")) {
    const index = Number(parsePyInt(token.slice(1, -1)) ?? -1);
    return Array.isArray(node) && index >= 0 && index < node.length && leads(node[index], rest);
  }
  if (!isMapping(node)) return false;
  if (hasKey(node, token)) return leads(memberAt(node, token), rest);
  // XML writes attributes with @, other formats without.
  const plain = token.startsWith("@") ? token.slice(1) : "";
  return plain !== "" && hasKey(node, plain) && leads(memberAt(node, plain), rest);
}
