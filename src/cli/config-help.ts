import { type Command, commandWords, type FlagTable, type FlagValues } from "./command.ts";
import { describeDefault, type KeyTable, typeName } from "./config-keys.ts";
import { describe, PROGRAM_NAME } from "./help.ts";
import { padEnd } from "./render/text-width.ts";

const HELP_WORD = /^(?:\+\+?)?(h|help)=(.*)$/s;

/** True when `+h=true` or `+help=true` stands among the overrides; a file cannot ask for help. */
export function asksForConfigHelp(words: readonly string[]): boolean {
  return words.some((word) => {
    const value = HELP_WORD.exec(word)?.[2]?.trim().toLowerCase();
    return value !== undefined && !["", "false", "null", "0"].includes(value);
  });
}

/** The keys a command reads with the flags as given. */
export function keysOf(command: Command, flags: FlagValues<FlagTable>): KeyTable {
  return command.keysFor?.(flags) ?? command.keys ?? {};
}

/** The text behind `+h=true`. */
export function configHelp(command: Command, flags: FlagValues<FlagTable>): string {
  const entries = Object.entries(keysOf(command, flags));
  const name = [PROGRAM_NAME, ...commandWords(command)].join(" ");
  const head = [`Displaying help for ${name}`, "", describe(command), ""];
  if (entries.length === 0) {
    const more = `It reads no config keys of its own; its flags are listed by \`${name} --help\`.`;
    return [...head, "There are no arguments to this CLI command!", more].join("\n");
  }
  const labels = entries.map(([key, description]) => `- ${key} (${typeName(description)})`);
  const width = Math.max(...labels.map((label) => label.length)) + 3;
  const lines = entries.map(
    ([, key], index) => `${padEnd(labels[index] ?? "", width)}${key.help}${describeDefault(key)}`,
  );
  return [...head, "Parameters", ...lines].join("\n");
}
