import { maskWord } from "../base/secrets.ts";
import type { Override } from "../config/door.ts";
import { isJsonWord, type ParsedWords } from "./arguments.ts";
import type { CliIo, Command, CommandContext, SelectorKind } from "./command.ts";
import { UsageError } from "./errors.ts";
import { definesModel, type ShortModel, shortModel } from "./short-model.ts";

const USER_CONFIG_PATHS = /^\+config_paths=\s*\[(.*)\]\s*$/s;

interface OverrideSources {
  /** The config file of a selector. */
  select(kind: SelectorKind, flag: string, value: string): Promise<string>;
  /** Where config files are searched. */
  readonly roots: readonly string[];
  readonly env: CliIo["env"];
}

/**
 * The overrides of one command line: `verbose`, one joined `config_paths`, the flags in the order of their definition,
 * then the words of the user. A flag is another spelling of an override, so all of them use a single `+`.
 */
export async function collectOverrides(
  command: Command,
  parsed: ParsedWords,
  sources: OverrideSources,
): Promise<Override[]> {
  const result: Override[] = parsed.verbose ? [literal("verbose", true, "--verbose")] : [];
  rejectFurtherArguments(command, parsed.words);
  rejectFileWords(command, parsed.words);
  const words = parsed.words.filter((word) => !USER_CONFIG_PATHS.test(word));
  const lists = parsed.words.flatMap((word) => USER_CONFIG_PATHS.exec(word)?.[1] ?? []);
  const { paths, flags } = await configPaths(command, parsed, sources);
  const short = lists.length > 0 ? undefined : await shortModelOf(command, parsed, paths, sources);
  if (short !== undefined) {
    // Before the files of --config, which may change its settings.
    paths.splice(paths.length - configFiles(command, parsed), 0, short.path);
    flags.push(`--model ${parsed.flags["model"]}`);
  }
  if (lists.length > 0) result.push(`+config_paths=[${await joinLists(paths, lists)}]`);
  else if (paths.length > 0) result.push(literal("config_paths", paths, flags.join(" ")));
  const given = flagOverrides(command, parsed).filter(
    (override) =>
      short === undefined || typeof override === "string" || override.path !== "policy_model_name",
  );
  return [
    ...result,
    ...positionalOverrides(command, parsed),
    ...(short?.overrides ?? []),
    ...given,
    ...words,
  ];
}

/** `-m openai/gpt-5.2` also chooses the model server, unless another one is chosen. */
async function shortModelOf(
  command: Command,
  parsed: ParsedWords,
  paths: readonly string[],
  { select, env, roots }: OverrideSources,
): Promise<(ShortModel & { path: string }) | undefined> {
  const { model, "model-type": type, "model-url": url, "model-api-key": key } = parsed.flags;
  if (command.flags["model-type"]?.kind !== "selector" || typeof model !== "string" || !model.includes("/"))
    return undefined;
  if (type !== undefined || url !== undefined) return undefined;
  const hasKey = key !== undefined || parsed.words.some((word) => /^\+{0,2}policy_api_key=/.test(word));
  if (await definesModel(paths, roots, env)) return undefined;
  const short = shortModel(model, env, hasKey);
  return short && { ...short, path: await select("model-type", "model", short.server) };
}

function configFiles(command: Command, parsed: ParsedWords): number {
  return Object.entries(command.flags)
    .filter(([, { kind }]) => kind === "config")
    .flatMap(([name]) => asList(parsed.flags[name]).flatMap(splitPaths)).length;
}

/** A word without `=` is not an override: the command has no further argument. */
function rejectFurtherArguments(command: Command, words: readonly string[]): void {
  const names = Object.keys(command.positionals ?? {});
  const surplus = words.filter((word) => !word.includes("=") && !word.startsWith("~"));
  if (names.length === 0 || surplus.length === 0) return;
  const accepted = names.length === 1 ? "One argument is" : `At most ${names.length} arguments are`;
  const shown = surplus.map(maskWord).join(" ");
  throw new UsageError(`unrecognized arguments: ${shown}. ${accepted} accepted: ${names.join(", ")}.`);
}

/** A file name alone is not an override: its flag is missing. */
function rejectFileWords(command: Command, words: readonly string[]): void {
  const word = words.find((given) => /^[^=~]*\.jsonl$/.test(given));
  if (word === undefined) return;
  const flags = Object.entries(command.flags).filter(([, { completes }]) => completes === "file");
  const names = flags.map(([name]) => `--${name}`).join(", ");
  if (names !== "") throw new UsageError(`unrecognized argument: '${word}'. Pass files with ${names}.`);
}

/** The user's lists stay as typed, so that their quotes and interpolations keep their meaning. */
async function joinLists(paths: readonly string[], lists: readonly string[]): Promise<string> {
  const { quoteOverride } = await import("../config/door.ts");
  return [...paths.map(quoteOverride), ...lists.filter((list) => list.trim() !== "")].join(",");
}

function literal(path: string, value: unknown, source: string): Override {
  return { op: "+", path, value, source };
}

async function configPaths(command: Command, parsed: ParsedWords, { select }: OverrideSources) {
  const paths: string[] = [];
  const flags: string[] = [];
  for (const [name, { selector }] of Object.entries(command.positionals ?? {})) {
    const value = parsed.positionals[name];
    if (selector === undefined || typeof value !== "string") continue;
    paths.push(await select(selector, selector, value));
    flags.push(`${name} ${value}`);
  }
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

function flagOverrides(command: Command, parsed: ParsedWords): Override[] {
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

function positionalOverrides(command: Command, parsed: ParsedWords): Override[] {
  const result: Override[] = [];
  for (const [name, { key }] of Object.entries(command.positionals ?? {})) {
    const value = parsed.positionals[name];
    if (key !== undefined && typeof value === "string") result.push(literal(key, value, name));
  }
  return result;
}

function asList(given: string | number | boolean | readonly string[] | undefined): readonly string[] {
  if (typeof given === "string") return [given];
  return Array.isArray(given) ? given : [];
}

/** For commands that read no config: rejects words and overrides, which would have no effect. */
export function rejectSurplusWords({ overrides }: CommandContext): void {
  const surplus = overrides.filter((word) => typeof word === "string").filter((word) => !isJsonWord(word));
  if (surplus.length === 0) return;
  throw new UsageError(`unrecognized arguments: ${surplus.join(" ")} (the command reads no config)`);
}
