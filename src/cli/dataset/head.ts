import { printable, printableName } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import { dumps, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { parseExactRow, readTextLines } from "../../data/light-door.ts";
import type { CommandContext } from "../command.ts";
import { rootedFile, withFileErrors } from "../files.ts";
import { rejectSurplusWords } from "../overrides.ts";
import type { Terminal } from "../render/terminal.ts";
import { textWidth } from "../render/text-width.ts";

const MAX_TEXT_LINES = 8;
const MAX_TEXT_CHARACTERS = 600;
const MAX_VALUE_CHARACTERS = 200;
const LABEL_WIDTH = 12;

interface HeadFlags {
  readonly rows: number;
  readonly skip: number;
  readonly full: boolean;
}

/** `gym dataset head`. */
export async function showRows(
  context: CommandContext,
  name: string,
  { rows, skip, full }: HeadFlags,
): Promise<number> {
  const { json } = context;
  rejectSurplusWords(context);
  return withFileErrors(async () => {
    const file = await rootedFile(context, name, "FILE");
    let line = 0;
    let broken = 0;
    for await (const text of readTextLines(file, context.signal)) {
      line++;
      if (line <= skip) continue;
      if (line > skip + rows) break;
      if (!json) context.out(formatLine(text, { name, line }, context, full));
      else if (!printJson(text, `${name}:${line}`, context)) broken++;
    }
    if (line <= skip && !json) context.out(`${name} has ${line} rows.`);
    return broken === 0 ? 0 : 1;
  });
}

/** Prints a row unchanged; reports a line that is not a row on stderr. */
function printJson(text: string | null, where: string, context: CommandContext): boolean {
  try {
    parseExactRow(text, where);
  } catch (error) {
    context.err(`${context.terminal.red("Error:")} ${errorMessage(error)}`);
    return false;
  }
  context.out(text ?? "");
  return true;
}

function formatLine(
  text: string | null,
  { name, line }: { name: string; line: number },
  context: CommandContext,
  full: boolean,
): string {
  const { terminal } = context;
  const heading = terminal.bold(`── row ${line} ${"─".repeat(Math.max(4, 60 - String(line).length))}`);
  try {
    return `${heading}\n${formatRow(parseExactRow(text, `${name}:${line}`), { full, terminal })}\n`;
  } catch (error) {
    return `${heading}\n${terminal.red(errorMessage(error))}\n`;
  }
}

interface RowViewOptions {
  /** Does not truncate long texts. */
  full: boolean;
  terminal: Terminal;
}

/** A row in readable form: messages, tools, parameters, the answer if any, the other fields. */
export function formatRow(row: JsonObject, options: RowViewOptions): string {
  const { responses_create_params: params, response, ...fields } = row;
  const lines: string[] = [];
  const add = (label: string, text: string) => lines.push(...labelled(label, text, options));
  if (isObject(params)) {
    const { input, tools, ...rest } = params;
    for (const [role, text] of messages(input)) add(role, text);
    if (Array.isArray(tools)) add("tools", tools.map(toolText).join(", ") || "none");
    const set = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
    if (Object.keys(set).length > 0) add("parameters", inline(set));
  } else if (params !== undefined) add("parameters", `${dumps(params)} (no object)`);
  if (isObject(response)) {
    for (const [role, text] of messages(response["output"])) add(`→ ${role}`, text);
  }
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === "string" ? value : dumps(value, { ensureAscii: false });
    add(name, options.full || typeof value === "string" ? text : shorten(text, MAX_VALUE_CHARACTERS));
  }
  return lines.join("\n");
}

function labelled(label: string, text: string, { full, terminal }: RowViewOptions): string[] {
  const shown = full ? text : cutText(text);
  const name = printableName(label);
  const padding = " ".repeat(Math.max(1, LABEL_WIDTH - textWidth(name)));
  const [first = "", ...rest] = printable(shown).split("\n");
  const indent = " ".repeat(LABEL_WIDTH);
  return [`${terminal.cyan(name)}${padding}${first}`, ...rest.map((line) => `${indent}${line}`)];
}

function cutText(text: string): string {
  const lines = text.split("\n");
  const shown = shorten(lines.slice(0, MAX_TEXT_LINES).join("\n"), MAX_TEXT_CHARACTERS);
  return lines.length > MAX_TEXT_LINES ? `${shown}\n… (${lines.length - MAX_TEXT_LINES} more lines)` : shown;
}

function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Does not split a surrogate pair.
  const end = /[\ud800-\udbff]$/.test(text.slice(0, limit)) ? limit - 1 : limit;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

function* messages(input: unknown): Generator<[role: string, text: string]> {
  if (typeof input === "string") yield ["user", input];
  if (!Array.isArray(input)) return;
  for (const item of input) {
    if (isObject(item)) yield itemText(item);
    else yield ["item", dumps(item)];
  }
}

function itemText(item: JsonObject): [role: string, text: string] {
  if (item["type"] === "function_call")
    return ["call", `${String(item["name"])}(${String(item["arguments"])})`];
  if (item["type"] === "function_call_output") return ["result", contentText(item["output"])];
  if (item["type"] === "reasoning") return ["reasoning", contentText(item["summary"])];
  if (typeof item["role"] === "string") return [item["role"], contentText(item["content"])];
  return [String(item["type"] ?? "item"), dumps(item, { ensureAscii: false })];
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return dumps(content, { ensureAscii: false });
  return content.map(partText).join("\n");
}

function partText(part: unknown): string {
  if (!isObject(part)) return dumps(part);
  if (typeof part["text"] === "string") return part["text"];
  return `[${String(part["type"])}] ${shorten(dumps(part, { ensureAscii: false }), MAX_VALUE_CHARACTERS)}`;
}

function toolText(tool: unknown): string {
  if (!isObject(tool)) return dumps(tool);
  const parameters = isObject(tool["parameters"]) ? tool["parameters"]["properties"] : undefined;
  const names = isObject(parameters) ? Object.keys(parameters).join(", ") : "";
  return tool["type"] === "function" ? `${String(tool["name"])}(${names})` : String(tool["type"]);
}

function inline(values: JsonObject): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${dumps(value, { ensureAscii: false })}`)
    .join(", ");
}
