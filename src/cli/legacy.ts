import path from "node:path";
import type { CliProgram } from "./command.ts";
import { PROGRAM_NAME } from "./help.ts";

/** Both families of older names; `ng_run` and `nemo_gym_run` are the same command. */
export const legacyPrefixes = ["ng_", "nemo_gym_"] as const;

/** Older names of the program's own flags. */
const ROOT_NAMES: Readonly<Record<string, readonly string[]>> = { help: ["--help"], version: ["--version"] };

/** Every older name without its prefix, with the words of `gym` that replace it. */
export function legacyNames(program: CliProgram): Map<string, readonly string[]> {
  const names = new Map(Object.entries(ROOT_NAMES));
  for (const command of program.commands) {
    for (const legacy of command.legacy ?? []) {
      const [name = "", ...words] = legacy.split(" ");
      names.set(name, [...command.words.split(" "), ...words]);
    }
  }
  return names;
}

interface LegacyCall {
  /** A message for stderr, printed first. */
  readonly notice: string;
  /** The words for `gym`; undefined for an unknown name. */
  readonly argv: readonly string[] | undefined;
}

/** Translates a call of an older command, by the name of the started file. */
export function translateLegacy(program: CliProgram, startedAs: string, argv: readonly string[]): LegacyCall {
  const name = path.basename(startedAs).replace(/\.(js|cmd|exe|ps1)$/, "");
  const prefix = legacyPrefixes.find((candidate) => name.startsWith(candidate)) ?? "";
  const words = legacyNames(program).get(name.slice(prefix.length));
  if (words === undefined) {
    return {
      notice: `\`${name}\`: no equivalent command is known; see \`${PROGRAM_NAME} --help\`.`,
      argv: undefined,
    };
  }
  const replacement = [PROGRAM_NAME, ...words].join(" ");
  return {
    notice: `⚠  \`${name}\` is deprecated and will be removed in a future release; use \`${replacement}\` instead.`,
    argv: [...words, ...argv],
  };
}
