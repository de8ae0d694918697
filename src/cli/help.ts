import { commonFlags, metavars } from "./arguments.ts";
import type { CliProgram, Command, Flag, FlagTable } from "./command.ts";
import { describeDefault, type KeyTable, typeName } from "./config-keys.ts";
import { padEnd, textWidth, wrapText } from "./render/text-width.ts";

/** The column of the explanations; smaller on a narrow terminal. */
const HELP_COLUMN = 26;
const MINIMUM_TEXT_WIDTH = 20;
const MINIMUM_INDENT = 4;

export const PROGRAM_NAME = "gym";

const PROGRAM_DESCRIPTION =
  "NeMo Gym: build environments for language-model agents, run them, score what happened.";

/** Flags of the program itself. */
export const rootFlags = {
  help: commonFlags.help,
  version: { kind: "switch", help: "show the version, the main dependencies and the system, then exit" },
  json: { kind: "switch", help: "print JSON; the same as --json after the command" },
  verbose: commonFlags.verbose,
} as const satisfies FlagTable;

/** `usage: gym [-h] …` with further lines indented below the first flag. */
export function programUsage(width: number): string {
  return wrapUsage(PROGRAM_NAME, [...flagParts(rootFlags), "COMMAND", "..."], width);
}

export function groupUsage(group: string, width: number): string {
  return wrapUsage(`${PROGRAM_NAME} ${group}`, ["[-h]", "COMMAND", "..."], width);
}

export function commandUsage(command: Command, width: number): string {
  const positionals = Object.entries(command.positionals ?? {}).map(([name, { optional, many }]) => {
    const words = many ? `${name} ...` : name;
    return optional ? `[${words}]` : words;
  });
  const parts = [...flagParts(allFlags(command)), ...positionals, "[key=value ...]"];
  return wrapUsage(`${PROGRAM_NAME} ${command.words}`, parts, width);
}

export function programHelp(program: CliProgram, width: number): string {
  const tops = program.commands.filter((command) => command.group === undefined);
  const rows: Row[] = [];
  for (const group of program.groups) {
    const members = program.commands.filter((command) => command.group === group.name);
    if (members.length === 0) continue;
    rows.push([group.name, group.summary]);
    for (const command of members) rows.push([`  ${command.name}`, command.summary]);
  }
  for (const command of tops) rows.push([command.name, command.summary]);
  return sections([
    programUsage(width),
    wrapText(PROGRAM_DESCRIPTION, width).join("\n"),
    section("commands", rows, width),
    section("options", flagRows(rootFlags), width),
    wrapText("Run `gym COMMAND --help` for the flags of a command.", width).join("\n"),
  ]);
}

export function groupHelp(program: CliProgram, group: string, width: number): string {
  const members = program.commands.filter((command) => command.group === group);
  const summary = program.groups.find(({ name }) => name === group)?.summary ?? "";
  return sections([
    groupUsage(group, width),
    summary,
    section(
      "commands",
      members.map((command) => [command.name, command.summary]),
      width,
    ),
    section("options", [flagRow("help", commonFlags.help)], width),
  ]);
}

export function commandHelp(command: Command, width: number): string {
  const positionals = Object.entries(command.positionals ?? {}).map(([name, { help, choices }]): Row => {
    return [name, choices === undefined ? help : `${help} (${choices.join(", ")})`];
  });
  // If keys depend on flags, those of a call without flags; `+h=true` shows the others.
  const table = command.keys ?? command.keysFor?.({}) ?? {};
  const keys = Object.keys(table).length === 0 ? "" : keySection(table, width);
  const examples = (command.examples ?? []).map((example) => `  ${example}`);
  return sections([
    commandUsage(command, width),
    wrapText(describe(command), width).join("\n"),
    section("arguments", positionals, width),
    section("options", flagRows(allFlags(command)), width),
    keys,
    examples.length === 0 ? "" : ["examples:", ...examples].join("\n"),
  ]);
}

/** The description of a command as a sentence. */
export function describe(command: Command): string {
  return command.description ?? `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`;
}

function keySection(keys: KeyTable, width: number): string {
  const rows = Object.entries(keys).map(([name, key]): Row => {
    return [`${name} (${typeName(key)})`, `${key.help}${describeDefault(key)}`];
  });
  return section("config keys (set with +key=value)", rows, width);
}

function allFlags(command: Command): FlagTable {
  return { ...commonFlags, ...command.flags };
}

type Row = readonly [string, string];

function flagRows(flags: FlagTable): Row[] {
  return Object.entries(flags).map(([name, flag]) => flagRow(name, flag));
}

/** Left and right half of a flag's line in help and in the reference documentation. */
function flagRow(name: string, flag: Flag): Row {
  const values = metavars(name, flag).join(" ");
  const spellings = flag.short === undefined ? [`--${name}`] : [`-${flag.short}`, `--${name}`];
  const notes = [
    flag.repeatable ? "repeatable" : "",
    flag.required ? "required" : "",
    flag.default === undefined ? "" : `default: ${flag.default}`,
  ].filter(Boolean);
  const left = spellings.join(", ") + (values === "" ? "" : ` ${values}`);
  return [left, notes.length === 0 ? flag.help : `${flag.help} (${notes.join("; ")})`];
}

function flagParts(flags: FlagTable): string[] {
  return Object.entries(flags).map(([name, flag]) => {
    const spelling = flag.short === undefined ? `--${name}` : `-${flag.short}`;
    const part = [spelling, ...metavars(name, flag)].join(" ");
    return flag.required ? part : `[${part}]`;
  });
}

function wrapUsage(program: string, parts: readonly string[], width: number): string {
  const first = `usage: ${program}`;
  const indent = " ".repeat(first.length + 1 > width / 2 ? 8 : first.length + 1);
  const lines: string[] = [];
  let line = first;
  for (const part of parts) {
    if (line.length + 1 + part.length > width && line.trim() !== "" && line !== first) {
      lines.push(line);
      line = indent + part;
    } else line += (line === indent ? "" : " ") + part;
  }
  return [...lines, line].join("\n");
}

function section(title: string, rows: readonly Row[], width: number): string {
  if (rows.length === 0) return "";
  const column = Math.min(HELP_COLUMN, Math.max(width - MINIMUM_TEXT_WIDTH, MINIMUM_INDENT));
  const textColumns = Math.max(MINIMUM_TEXT_WIDTH, width - column);
  const lines = [`${title}:`];
  for (const [left, right] of rows) {
    const texts = wrapText(right, textColumns);
    const head = `  ${left}`;
    const fits = textWidth(head) + 2 <= column;
    if (!fits) lines.push(head);
    for (const [index, text] of texts.entries()) {
      lines.push(padEnd(fits && index === 0 ? head : "", column) + text);
    }
  }
  return lines.join("\n");
}

function sections(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
