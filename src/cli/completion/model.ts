import { commonFlags } from "../arguments.ts";
import {
  type Command,
  commandWords,
  type Flag,
  type FlagTable,
  loadCommand,
  type Program,
} from "../command.ts";
import { componentDirectory } from "../component-names.ts";
import { rootFlags } from "../help.ts";

/** What may stand behind a flag. */
export type ValueSource =
  | { readonly kind: "none" | "file" | "directory" | "text" }
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  /** Folder names below this directory of every search root. */
  | { readonly kind: "components"; readonly directory: string };

export interface FlagCompletion {
  readonly long: string;
  readonly short: string | undefined;
  readonly help: string;
  readonly value: ValueSource;
}

/** What may follow a given sequence of command words. */
export interface CompletionNode {
  /** `""`, `env`, `env resolve` */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly help: string }[];
  readonly flags: readonly FlagCompletion[];
}

/** The program as a flat list of places, each with what can be typed there. */
export async function completionNodes(program: Program): Promise<CompletionNode[]> {
  const commands = await Promise.all(program.commands.map(loadCommand));
  const groups = program.groups.filter(({ name }) => program.commands.some(({ group }) => group === name));
  const tops = program.commands.filter(({ group }) => group === undefined);
  return [
    {
      path: "",
      words: [...groups, ...tops].map(({ name, summary }) => ({ word: name, help: summary })),
      flags: flagCompletions(rootFlags),
    },
    ...groups.map(({ name }) => ({
      path: name,
      words: program.commands
        .filter(({ group }) => group === name)
        .map((command) => ({ word: command.name, help: command.summary })),
      flags: flagCompletions({ help: commonFlags.help }),
    })),
    ...commands.map(commandNode),
  ];
}

function commandNode(command: Command): CompletionNode {
  const words = Object.values(command.positionals ?? {}).flatMap(({ choices, help }) =>
    (choices ?? []).map((word) => ({ word, help })),
  );
  const flags = flagCompletions({ ...command.flags, ...commonFlags });
  return { path: commandWords(command).join(" "), words, flags };
}

function flagCompletions(flags: FlagTable): FlagCompletion[] {
  return Object.entries(flags).map(([name, flag]) => ({
    long: `--${name}`,
    short: flag.short === undefined ? undefined : `-${flag.short}`,
    help: flag.help,
    value: valueSource(flag),
  }));
}

function valueSource(flag: Flag): ValueSource {
  if (flag.kind === "switch") return { kind: "none" };
  if (flag.choices !== undefined) return { kind: "choices", choices: flag.choices };
  if (flag.selector !== undefined)
    return { kind: "components", directory: componentDirectory(flag.selector) };
  if (flag.prefix !== undefined) return { kind: "components", directory: flag.prefix.replace(/\/$/, "") };
  return { kind: flag.completes ?? "text" };
}

/** The text as one word of a POSIX shell; fish reads it the same way. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
