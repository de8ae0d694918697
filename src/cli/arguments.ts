import { isSecretName, MASK, maskWord } from "../base/secrets.ts";
import type { Flag, FlagTable, NumberRange, Positional, PositionalTable } from "./command.ts";
import { UsageError } from "./errors.ts";
import { hint } from "./hint.ts";

/** The words of the command line after the command's name. */
export interface ParsedWords {
  /** By long name: a boolean for switches, a list for repeatable flags and flags of several values. */
  readonly flags: Record<string, FlagValue>;
  readonly positionals: Record<string, string | readonly string[] | undefined>;
  /** Words for the override grammar, in order. */
  readonly words: string[];
  readonly help: boolean;
  readonly verbose: boolean;
  /** The file to read instead of `env.yaml`, or `none`. */
  readonly envFile: string | undefined;
}

type FlagValue = string | number | boolean | string[] | undefined;

interface ArgumentTables {
  readonly flags: FlagTable;
  readonly positionals?: PositionalTable;
}

/** Flags every command has. */
export const commonFlags = {
  help: { kind: "switch", short: "h", help: "show this help message and exit" },
  verbose: { kind: "switch", short: "v", help: "log at debug level, here and in the servers" },
  "env-yaml": {
    kind: "text",
    metavar: "PATH|none",
    completes: "file",
    help: "read this file instead of env.yaml; none: read no env.yaml at all",
  },
} as const satisfies FlagTable;

/** Node 20 takes `--env-file` for its own option in `npx gym …` and `node bin/gym.js …`, hence the newer name. */
const OLDER_NAMES: Readonly<Record<string, string>> = { "env-file": "env-yaml" };

/** True for a word that can only be an override: `+key=value`, `key=value`, `~key`. */
export function isOverrideWord(word: string): boolean {
  const [key = ""] = word.split("=", 1);
  // A key has no blanks and no "://": "Solve 2+2=?" is a sentence, https://host/rows?page=2 an address.
  return (/^[+~]/.test(word) || word.includes("=")) && !/\s|:\/\//.test(key);
}

/** True for the older spelling of `--json`. */
export function isJsonWord(word: string): boolean {
  return /^\+{0,2}json(?:_format)?=true$/i.test(word);
}

/** The name of a flag in messages: `--input/-i`. */
function flagLabel(name: string, flag: Flag): string {
  return flag.short === undefined ? `--${name}` : `--${name}/-${flag.short}`;
}

/** The names of a flag's values in usage lines. */
export function metavars(name: string, flag: Flag): readonly string[] {
  if (flag.kind === "switch") return [];
  if (typeof flag.metavar === "string") return [flag.metavar];
  if (flag.metavar !== undefined) return flag.metavar;
  return [
    flag.choices === undefined ? name.toUpperCase().replaceAll("-", "_") : `{${flag.choices.join(",")}}`,
  ];
}

function isNegativeNumber(word: string): boolean {
  return /^-\d+$|^-\d*\.\d+(e[+-]?\d+)?$/i.test(word);
}

function looksLikeFlag(word: string): boolean {
  return word.length > 1 && word.startsWith("-") && !isNegativeNumber(word) && !word.includes(" ");
}

/** A message that suggests one of the choices; undefined when the value is valid. */
function choiceProblem(label: string, value: string, choices?: readonly string[]): string | undefined {
  if (choices === undefined || choices.includes(value)) return undefined;
  const listed = choices.map((choice) => `'${choice}'`).join(", ");
  return `argument ${label}: invalid choice: '${value}' (choose from ${listed})${hint(value, choices)}`;
}

/** A message about a number that is not in the range of a flag; undefined when the value is valid. */
function numberProblem(label: string, text: string, range: NumberRange | undefined): string | undefined {
  if (range === undefined) return undefined;
  const { minimum, maximum = Number.POSITIVE_INFINITY, whole = false } = range;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= minimum && value <= maximum && (!whole || Number.isInteger(value))) return undefined;
  const bounds = range.maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return `argument ${label}: must be a ${whole ? "whole " : ""}number ${bounds}, not '${text}'`;
}

/** Parses the words of one command like argparse: prefixes, `--flag=value`, clustered short flags. */
export function parseWords(tables: ArgumentTables, argv: readonly string[]): ParsedWords {
  return new ArgumentParser(tables).parse(argv);
}

class ArgumentParser {
  private readonly flags: ReadonlyMap<string, Flag>;
  private readonly positionals: PositionalTable;
  private readonly given = new Map<string, string[]>();
  private readonly plain: string[] = [];
  private readonly overrides: string[] = [];
  private readonly unknown: string[] = [];
  private readonly queue: string[] = [];

  constructor(tables: ArgumentTables) {
    this.flags = new Map(Object.entries({ ...commonFlags, ...tables.flags }));
    this.positionals = tables.positionals ?? {};
  }

  parse(argv: readonly string[]): ParsedWords {
    this.queue.push(...argv);
    for (let word = this.queue.shift(); word !== undefined; word = this.queue.shift()) {
      if (this.given.has("help")) break;
      if (word === "--") this.plain.push(...this.queue.splice(0));
      else if (this.isLiteral(word)) this.plain.push(word);
      else if (word.startsWith("--")) this.longFlag(word);
      else if (looksLikeFlag(word)) this.shortFlags(word);
      else if (isOverrideWord(word)) this.overrides.push(word);
      else this.plain.push(word);
    }
    const help = this.given.has("help");
    if (!help) this.reject();
    const positionals = help ? {} : this.assignPositionals();
    return {
      flags: this.values(),
      positionals,
      words: [...this.overrides, ...this.plain],
      help,
      verbose: this.given.has("verbose"),
      envFile: this.given.get("env-yaml")?.[0],
    };
  }

  private isLiteral(word: string): boolean {
    if (word.startsWith("--") || !Object.values(this.positionals).some(({ literal }) => literal))
      return false;
    return !(/^-[a-z]$/i.test(word) && this.findShort(word.charAt(1)) !== undefined);
  }

  private longFlag(word: string): void {
    const equals = word.indexOf("=");
    const typed = equals < 0 ? word.slice(2) : word.slice(2, equals);
    const name = this.find(typed);
    if (name === undefined) this.unknown.push(word);
    else this.take(name, equals < 0 ? undefined : word.slice(equals + 1));
  }

  private find(typed: string): string | undefined {
    if (this.flags.has(typed)) return typed;
    if (typed in OLDER_NAMES) return OLDER_NAMES[typed];
    const candidates = [...this.flags.keys()].filter((name) => name.startsWith(typed));
    if (candidates.length > 1) {
      const listed = candidates.map((name) => `--${name}`).join(", ");
      throw new UsageError(`ambiguous option: --${typed} could match ${listed}`);
    }
    return candidates[0];
  }

  private shortFlags(word: string): void {
    for (let index = 1; index < word.length; index++) {
      const name = this.findShort(word.charAt(index));
      if (name === undefined) {
        this.unknown.push(index === 1 ? word : `-${word.slice(index)}`);
        return;
      }
      const rest = word.slice(index + 1);
      if (this.flags.get(name)?.kind !== "switch") {
        this.take(name, rest === "" ? undefined : rest.replace(/^=/, ""));
        return;
      }
      this.take(name, undefined);
    }
  }

  private findShort(letter: string): string | undefined {
    for (const [name, flag] of this.flags) if (flag.short === letter) return name;
    return undefined;
  }

  private take(name: string, attached: string | undefined): void {
    const flag = this.flags.get(name);
    if (flag === undefined) return;
    const label = flagLabel(name, flag);
    if (flag.kind === "switch" && attached !== undefined) {
      throw new UsageError(`argument ${label}: ignored explicit argument '${attached}'`);
    }
    this.rejectTogether(name, flag);
    const wanted = metavars(name, flag).length;
    const values = attached === undefined ? [] : [attached];
    while (values.length < wanted) {
      const next = this.queue[0];
      if (next === undefined || next === "--" || looksLikeFlag(next)) break;
      values.push(next);
      this.queue.shift();
    }
    if (values.length !== wanted) {
      throw new UsageError(
        `argument ${label}: expected ${wanted === 1 ? "one argument" : `${wanted} arguments`}`,
      );
    }
    for (const value of values) {
      const problem = choiceProblem(label, value, flag.choices) ?? numberProblem(label, value, flag.range);
      if (problem !== undefined) throw new UsageError(problem);
    }
    const before = this.given.get(name) ?? [];
    if (!flag.repeatable) this.rejectTwice(name, flag, before, values);
    this.given.set(name, flag.repeatable ? [...before, ...values] : values);
  }

  /** Of two different values one would be dropped silently; repeating the same value is harmless. */
  private rejectTwice(name: string, flag: Flag, before: readonly string[], values: readonly string[]): void {
    if (before.length === 0 || before.join(" ") === values.join(" ")) return;
    const shown = (given: readonly string[]) => (isSecretName(name) ? MASK : given.join(" "));
    const more = flag.kind === "selector" ? "; name the config files of several with --config PATH" : "";
    throw new UsageError(
      `argument ${flagLabel(name, flag)}: given twice, as '${shown(before)}' and as '${shown(values)}'; it takes one value${more}`,
    );
  }

  private rejectTogether(name: string, flag: Flag): void {
    if (flag.exclusive === undefined) return;
    for (const other of this.given.keys()) {
      const otherFlag = this.flags.get(other);
      if (other === name || otherFlag === undefined || otherFlag.exclusive !== flag.exclusive) continue;
      throw new UsageError(
        `argument ${flagLabel(name, flag)}: not allowed with argument ${flagLabel(other, otherFlag)}`,
      );
    }
  }

  private reject(): void {
    if (this.unknown.length > 0) {
      const known = [...this.flags.keys()].map((name) => `--${name}`);
      const names = this.unknown.map((word) => word.replace(/=.*/s, ""));
      const hints = names.map((name) => this.positionalHint(name) || hint(name, known));
      throw new UsageError(
        `unrecognized arguments: ${this.unknown.map(maskWord).join(" ")}.${hints.find(Boolean) ?? ""}`,
      );
    }
    const missing = [...this.flags].filter(([name, flag]) => flag.required && !this.given.has(name));
    if (missing.length > 0) {
      const labels = missing.map(([name, flag]) => flagLabel(name, flag));
      throw new UsageError(`the following arguments are required: ${labels.join(", ")}`);
    }
  }

  /** For `--resources-server NAME`, where the command takes the name alone. */
  private positionalHint(word: string): string {
    const kind = `${word.replace(/^--/, "").replaceAll("-", "_")}s`;
    const found = Object.entries(this.positionals).find(
      ([, { completes }]) => Array.isArray(completes) && completes.includes(kind),
    );
    return found === undefined ? "" : ` Give the name without \`${word}\`, as ${found[0]}.`;
  }

  /**
   * Required positionals come first; optional ones share the remaining words, from the left. Further words are
   * overrides.
   */
  private assignPositionals(): ParsedWords["positionals"] {
    const entries = Object.entries(this.positionals);
    let required = entries.filter(([, positional]) => !positional.optional).length;
    const result: ParsedWords["positionals"] = {};
    const missing: string[] = [];
    for (const [name, positional] of entries) {
      if (positional.many) {
        const words = this.plain.splice(0);
        if (words.length === 0 && !positional.optional) missing.push(name);
        result[name] = words;
        continue;
      }
      if (positional.optional ? this.plain.length <= required : this.plain.length === 0) {
        if (!positional.optional) missing.push(name);
        continue;
      }
      if (positional.optional && this.beginsRest(positional)) continue;
      const value = this.plain.splice(0, positional.rest ? this.plain.length : 1).join(" ");
      if (!positional.optional) required--;
      const problem = choiceProblem(name, value, positional.choices);
      if (problem !== undefined) {
        const quoting = this.takesRest()
          ? ` (put several words in quotes: "${[value, ...this.plain].join(" ")}")`
          : "";
        throw new UsageError(problem + quoting);
      }
      result[name] = value;
    }
    if (missing.length > 0)
      throw new UsageError(`the following arguments are required: ${missing.join(", ")}`);
    if (this.plain.length > 0 && entries.some(([, { literal }]) => literal))
      throw new UsageError(
        `unrecognized arguments: ${this.plain.map(maskWord).join(" ")}. Put several words of one argument in quotes.`,
      );
    return result;
  }

  private takesRest(): boolean {
    return Object.values(this.positionals).some(({ rest }) => rest === true);
  }

  /** Whether the first word is not a choice or close to one: then all words belong to the last positional. */
  private beginsRest({ choices }: Positional): boolean {
    const [word = ""] = this.plain;
    if (choices === undefined || choices.includes(word) || hint(word, choices) !== "") return false;
    return this.takesRest();
  }

  private values(): Record<string, FlagValue> {
    const result: Record<string, FlagValue> = {};
    for (const [name, flag] of this.flags) {
      if (name in commonFlags) continue;
      const values = this.given.get(name);
      if (flag.kind === "switch") result[name] = values !== undefined;
      else if (flag.repeatable || Array.isArray(flag.metavar)) result[name] = values ?? [];
      else {
        const value = values?.[0] ?? (flag.key === undefined ? flag.default : undefined);
        result[name] = flag.kind === "number" && value !== undefined ? Number(value) : value;
      }
    }
    return result;
  }
}
