import { metavars } from "../../src/cli/arguments.ts";
import type { CliProgram, Command, Flag } from "../../src/cli/command.ts";
import { describeDefault, typeName } from "../../src/cli/config-keys.ts";
import { describe, rootFlags } from "../../src/cli/help.ts";
import { legacyNames } from "../../src/cli/legacy.ts";
import { GENERATED, markdownTable } from "./markdown.ts";

/** docs/reference/cli.md: every command, flag, key and older name. */
export function cliPage(program: CliProgram): string {
  const parts = [
    "# Command line",
    GENERATED,
    "`gym` (short: `ng`) runs everything. Words of the form `key=value`, `+key=value`, `++key=value` and `~key` " +
      "may stand anywhere among the flags; see [the guide](../guide/command-line.md).",
    "## gym",
    flagTable(rootFlags),
  ];
  for (const group of [...program.groups, undefined]) {
    for (const command of program.commands)
      if (command.group === group?.name) parts.push(...commandPart(command));
  }
  return `${[...parts, ...legacyPart(program)].join("\n\n")}\n`;
}

function commandPart(command: Command): string[] {
  const parts = [`## gym ${command.words}`, describe(command)];
  const positionals = Object.entries(command.positionals ?? {});
  if (positionals.length > 0) {
    const rows = positionals.map(([name, { help, optional, choices }]) => [
      optional ? `[${name}]` : name,
      choices === undefined ? help : `${help}: ${code(choices)}`,
    ]);
    parts.push(markdownTable(["Argument", "Meaning"], rows));
  }
  if (Object.keys(command.flags).length > 0) parts.push(flagTable(command.flags));
  const keys = Object.entries(command.keys ?? {});
  if (keys.length > 0) {
    const rows = keys.map(([name, key]) => [`\`${name}\``, typeName(key), key.help + describeDefault(key)]);
    parts.push(markdownTable(["Config key", "Type", "Meaning"], rows));
  }
  if (command.examples !== undefined) parts.push(["```bash", ...command.examples, "```"].join("\n"));
  return parts;
}

function flagTable(flags: Readonly<Record<string, Flag>>): string {
  const rows = Object.entries(flags).map(([name, flag]) => [
    flagCell(name, flag),
    keyCell(flag),
    meaning(flag),
  ]);
  return markdownTable(["Flag", "Sets", "Meaning"], rows);
}

function flagCell(name: string, flag: Flag): string {
  const spellings = flag.short === undefined ? [`--${name}`] : [`--${name}`, `-${flag.short}`];
  const values = metavars(name, flag).join(" ");
  return spellings.map((spelling) => `\`${values === "" ? spelling : `${spelling} ${values}`}\``).join(", ");
}

function keyCell(flag: Flag): string {
  if (flag.kind === "config" || flag.kind === "selector") return "`config_paths`";
  if (flag.kind === "search-dir") return "search roots";
  return flag.key === undefined ? "" : code(typeof flag.key === "string" ? [flag.key] : flag.key);
}

function meaning(flag: Flag): string {
  const notes = [
    flag.kind === "text" && flag.key !== undefined ? "taken literally" : "",
    flag.repeatable ? "repeatable" : "",
    flag.required ? "required" : "",
    flag.default === undefined ? "" : `default \`${flag.default}\``,
  ].filter(Boolean);
  return notes.length === 0 ? flag.help : `${flag.help} (${notes.join(", ")})`;
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}

function legacyPart(program: CliProgram): string[] {
  const rows = [...legacyNames(program)]
    .sort()
    .map(([name, words]) => [`\`ng_${name}\`, \`nemo_gym_${name}\``, `\`gym ${words.join(" ")}\``]);
  return [
    "## Older names",
    "Each prints a notice on stderr and then runs the new command with the remaining words.",
    markdownTable(["Older command", "Runs"], rows),
  ];
}
