import { reservedKeys } from "../config/reserved-keys.ts";
import type { Command, CommandContext } from "./command.ts";
import { describeDefault, type KeyTable, typeName } from "./config-keys.ts";
import { describe, PROGRAM_NAME } from "./help.ts";
import { padEnd } from "./render/text-width.ts";

const HELP_WORD = /^(?:\+\+?)?(h|help)=(.*)$/s;

/** Whether the overrides contain `+h=true` or `+help=true`; a file cannot request help. */
export function asksForConfigHelp(words: readonly string[]): boolean {
  return words.some((word) => {
    const value = HELP_WORD.exec(word)?.[2]?.trim().toLowerCase();
    return value !== undefined && !["", "false", "null", "0"].includes(value);
  });
}

/** The keys of a command with the given flags. */
function keysOf(command: Command, flags: CommandContext["flags"]): KeyTable {
  return command.keysFor?.(flags) ?? command.keys ?? {};
}

/** The output of `+h=true`: the keys of the command, then those of every config. */
export function configHelp(command: Command, flags: CommandContext["flags"]): string {
  const name = `${PROGRAM_NAME} ${command.words}`;
  const own = Object.entries(keysOf(command, flags)).map(
    ([key, description]): KeyLine => [
      `- ${key} (${typeName(description)})`,
      description.help + describeDefault(description),
    ],
  );
  const lines = [`Displaying help for ${name}`, "", describe(command)];
  if (own.length > 0) lines.push("", "Parameters", ...aligned(own));
  if ("config" in command.flags) lines.push("", "Parameters of every config", ...aligned(commonKeys()));
  else if (own.length === 0) lines.push("", "There are no arguments to this CLI command!");
  lines.push("", `Its flags are listed by \`${name} --help\`.`);
  return lines.join("\n");
}

type KeyLine = readonly [label: string, help: string];

function commonKeys(): KeyLine[] {
  return reservedKeys.map((reserved): KeyLine => {
    const { key, description } = reserved;
    return [`- ${key}`, description + ("default" in reserved ? ` [default: ${reserved.default}]` : "")];
  });
}

function aligned(keys: readonly KeyLine[]): string[] {
  const width = Math.max(...keys.map(([label]) => label.length)) + 3;
  return keys.map(([label, help]) => padEnd(label, width) + help);
}
