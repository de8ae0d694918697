import { maskWord } from "../base/secrets.ts";
import type { Override } from "../config/resolve.ts";
import { isJsonWord, type ParsedArguments } from "./arguments.ts";
import type { Command, CommandContext, SelectorKind } from "./command.ts";
import { UsageError } from "./errors.ts";

const USER_CONFIG_PATHS = /^\+config_paths=\s*\[(.*)\]\s*$/s;

interface OverrideSources {
  /** The config file of a selector. */
  select(kind: SelectorKind, flag: string, value: string): Promise<string>;
}

/**
 * The overrides of one command line: `verbose`, one joined `config_paths`, the flags in the order of their definition,
 * then the words of the user. A flag is another spelling of an override, so all of them use a single `+`.
 */
export async function collectOverrides(
  command: Command,
  parsed: ParsedArguments,
  sources: OverrideSources,
): Promise<Override[]> {
  const result: Override[] = parsed.verbose ? [literal("verbose", true, "--verbose")] : [];
  refuseFurtherArguments(command, parsed.words);
  refuseFileWords(command, parsed.words);
  const words = parsed.words.filter((word) => !USER_CONFIG_PATHS.test(word));
  const lists = parsed.words.flatMap((word) => USER_CONFIG_PATHS.exec(word)?.[1] ?? []);
  const { paths, flags } = await configPaths(command, parsed, sources);
  if (lists.length > 0) result.push(`+config_paths=[${await joinLists(paths, lists)}]`);
  else if (paths.length > 0) result.push(literal("config_paths", paths, flags.join(" ")));
  return [...result, ...positionalOverrides(command, parsed), ...flagOverrides(command, parsed), ...words];
}

/** A word without `=` is not an override: the command has no further argument. */
function refuseFurtherArguments(command: Command, words: readonly string[]): void {
  const names = Object.keys(command.positionals ?? {});
  const surplus = words.filter((word) => !word.includes("=") && !word.startsWith("~"));
  if (names.length === 0 || surplus.length === 0) return;
  const accepted = names.length === 1 ? "One argument is" : `At most ${names.length} arguments are`;
  const shown = surplus.map(maskWord).join(" ");
  throw new UsageError(`unrecognized arguments: ${shown}. ${accepted} accepted: ${names.join(", ")}.`);
}

/** A file name alone is not an override: its flag is missing. */
function refuseFileWords(command: Command, words: readonly string[]): void {
  const word = words.find((given) => /^[^=~]*\.jsonl$/.test(given));
  if (word === undefined) return;
  const flags = Object.entries(command.flags).filter(([, { completes }]) => completes === "file");
  const names = flags.map(([name]) => `--${name}`).join(", ");
  if (names !== "") throw new UsageError(`unrecognized argument: '${word}'. Pass files with ${names}.`);
}

/** The user's lists stay as typed, so that their quotes and interpolations keep their meaning. */
async function joinLists(paths: readonly string[], lists: readonly string[]): Promise<string> {
  const { quoteOverride } = await import("../config/overrides/override-write.ts");
  return [...paths.map(quoteOverride), ...lists.filter((list) => list.trim() !== "")].join(",");
}

function literal(path: string, value: unknown, source: string): Override {
  return { op: "+", path, value, source };
}

async function configPaths(command: Command, parsed: ParsedArguments, { select }: OverrideSources) {
  const paths: string[] = [];
  const flags: string[] = [];
  // Later files take precedence, so the user's files follow those of selectors.
  const table = Object.entries(command.flags);
  const ordered = [
    ...table.filter(([, { kind }]) => kind === "selector"),
    ...table.filter(([, { kind }]) => kind === "config"),
  ];
  for (const [name, flag] of ordered) {
    for (const given of asList(parsed.flags[name])) {
      const values = flag.kind === "config" ? splitPaths(given) : [given];
      for (const value of values) {
        paths.push(flag.selector === undefined ? value : await select(flag.selector, name, value));
      }
      flags.push(`--${name} ${given}`);
    }
  }
  return { paths, flags };
}

/** `--config a.yaml,b.yaml` is two files. */
function splitPaths(given: string): string[] {
  const paths = given.split(",").map((path) => path.trim());
  if (paths.includes("")) throw new UsageError(`argument --config: empty path in '${given}'`);
  return paths;
}

function flagOverrides(command: Command, parsed: ParsedArguments): Override[] {
  const result: Override[] = [];
  for (const [name, flag] of Object.entries(command.flags)) {
    const given = parsed.flags[name];
    const values = asList(given);
    if (given !== true && values.length === 0) continue;
    for (const key of asList(flag.key)) {
      if (flag.kind === "switch" || flag.sets !== undefined)
        result.push(literal(key, flag.sets ?? true, `--${name}`));
      else if (flag.kind === "value") {
        // Several values of one flag (`--reward-range LOW HIGH`) are one list.
        result.push(`+${key}=${values.length === 1 ? values[0] : `[${values.join(",")}]`}`);
      } else {
        const texts = values.map((value) => (flag.prefix ?? "") + value);
        result.push(literal(key, Array.isArray(given) ? texts : texts[0], `--${name}`));
      }
    }
  }
  return result;
}

function positionalOverrides(command: Command, parsed: ParsedArguments): Override[] {
  const result: Override[] = [];
  for (const [name, { key }] of Object.entries(command.positionals ?? {})) {
    const value = parsed.positionals[name];
    if (key !== undefined && value !== undefined) result.push(literal(key, value, name));
  }
  return result;
}

function asList(given: string | number | boolean | readonly string[] | undefined): readonly string[] {
  if (typeof given === "string") return [given];
  return Array.isArray(given) ? given : [];
}

/** For commands that read no config: refuses words and overrides, which would have no effect. */
export function refuseSurplusWords({ overrides }: CommandContext): void {
  const surplus = overrides.filter((word) => typeof word === "string").filter((word) => !isJsonWord(word));
  if (surplus.length === 0) return;
  throw new UsageError(`unrecognized arguments: ${surplus.join(" ")} (the command reads no config)`);
}
