import { shellQuote } from "../../base/door.ts";
import { commonFlags } from "../arguments.ts";
import type { CliProgram, Command, Completes, Flag, FlagTable } from "../command.ts";
import { rootFlags } from "../help.ts";
import { componentDirectory } from "../selectors.ts";

/** The possible values of a flag. */
export type ValueSource =
  | { readonly kind: "none" | "file" | "directory" | "text" }
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  /** Folder names below these directories of every search root. */
  | { readonly kind: "components"; readonly directories: readonly string[] };

export interface FlagCompletion {
  /** `--input` and, if there is one, `-i`. */
  readonly names: readonly string[];
  readonly help: string;
  readonly value: ValueSource;
}

/** The possible words after a sequence of command words. */
interface CompletionNode {
  /** `""`, `env`, `env resolve` */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly help: string }[];
  readonly flags: readonly FlagCompletion[];
  /** The choices for words that are not flags. */
  readonly argument?: ValueSource;
}

/** What the scripts of all shells are made of. */
export interface CompletionModel {
  readonly nodes: readonly CompletionNode[];
  /** The paths of groups and commands. */
  readonly paths: readonly string[];
  /** The names of all flags that take a value: the word after one is not part of a path. */
  readonly valueFlags: readonly string[];
}

export function completionModel(program: CliProgram): CompletionModel {
  const nodes = completionNodes(program);
  const valueFlags = nodes.flatMap(({ flags }) => flags.filter(takesValue).flatMap(({ names }) => names));
  return {
    nodes,
    paths: nodes.map(({ path }) => path).filter((path) => path !== ""),
    valueFlags: [...new Set(valueFlags)],
  };
}

function takesValue({ value }: FlagCompletion): boolean {
  return value.kind !== "none";
}

/** The branches of a `case` on `path:flag` that complete a value; the empty flag is that of positional words. */
export function valueCases(
  nodes: readonly CompletionNode[],
  valueCommand: (value: ValueSource) => string,
): string {
  const branch = (path: string, names: readonly string[], value: ValueSource) => {
    const patterns = names.map((name) => shellQuote(`${path}:${name}`));
    return `    ${patterns.join("|")}) ${valueCommand(value)} ;;`;
  };
  const flags = nodes.flatMap(({ path, flags }) =>
    flags.filter(takesValue).map(({ names, value }) => branch(path, names, value)),
  );
  const words = nodes.flatMap(({ path, argument }) => (argument ? [branch(path, [""], argument)] : []));
  return [...flags, ...words].join("\n");
}

/** The program as a flat list of positions, each with its possible words. */
function completionNodes(program: CliProgram): CompletionNode[] {
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
    ...program.commands.map(commandNode),
  ];
}

function commandNode(command: Command): CompletionNode {
  const words = Object.values(command.positionals ?? {}).flatMap(({ choices, help }) =>
    (choices ?? []).map((word) => ({ word, help })),
  );
  const flags = flagCompletions({ ...command.flags, ...commonFlags });
  const completes = Object.values(command.positionals ?? {}).find((word) => word.completes)?.completes;
  const argument = completes === undefined ? undefined : completionSource(completes);
  return { path: command.words, words, flags, argument };
}

function flagCompletions(flags: FlagTable): FlagCompletion[] {
  return Object.entries(flags).map(([name, flag]) => ({
    names: flag.short === undefined ? [`--${name}`] : [`--${name}`, `-${flag.short}`],
    help: flag.help,
    value: valueSource(flag),
  }));
}

function valueSource(flag: Flag): ValueSource {
  if (flag.kind === "switch") return { kind: "none" };
  if (flag.choices !== undefined) return { kind: "choices", choices: flag.choices };
  if (flag.selector !== undefined)
    return { kind: "components", directories: [componentDirectory(flag.selector)] };
  if (flag.prefix !== undefined) return { kind: "components", directories: [flag.prefix.replace(/\/$/, "")] };
  return flag.completes === undefined ? { kind: "text" } : completionSource(flag.completes);
}

function completionSource(completes: Completes): ValueSource {
  return typeof completes === "string" ? { kind: completes } : { kind: "components", directories: completes };
}
