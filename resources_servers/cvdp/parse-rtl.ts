import { isObject, strip } from "nemo-gym/python";

const BLOCK = /```(?:\w+\n)?(.*?)```/s;
const codeOf = (text: string) => BLOCK.exec(text)?.[1] ?? text;

/** The files of an answer: its code for a single file, or `{code: [{path: text}]}` for several; undefined if it has none. */
export function parseRtl(text: string, targets: readonly string[]): Record<string, string> | undefined {
  const [only, ...others] = targets;
  if (only === undefined) return undefined;
  if (others.length > 0) return filesOf(text);
  const code = codeOf(text);
  return strip(code) === "" ? undefined : { [only]: code };
}

function filesOf(text: string): Record<string, string> | undefined {
  const line = text.replace(/[\u0000-\u001f\u007f]/g, "");
  const json = line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1);
  const parsed = parse(json) ?? parse(withQuotes(json));
  const code = isObject(parsed) ? parsed["code"] : undefined;
  if (!Array.isArray(code)) return undefined;
  const files = code
    .filter(isObject)
    .flatMap((entry) => Object.entries(entry).map(([path, value]) => [path, codeOf(String(value))]));
  return files.length === 0 ? undefined : Object.fromEntries(files);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Quotes names and single words that an answer has left without quotes. */
function withQuotes(json: string): string {
  return json
    .replace(/([{,]\s*)([A-Za-z_][\w./-]*)\s*:/g, '$1"$2":')
    .replace(/(:\s*)([A-Za-z_][\w.-]*)(\s*[,}\]])/g, '$1"$2"$3');
}
