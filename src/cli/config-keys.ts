import type { Key, KeyFlag, KeyTable, KeyType, KeyTypes } from "../base/config-key.ts";
import type { CommandContext, Completes, Flag, FlagTable } from "./command.ts";
import { CommandKeysError } from "./errors.ts";

export type { KeyTable };

/** Flags of files that several commands read or write. */
export const INPUT_FLAG = { name: "input", short: "i", metavar: "FILE" } as const;
export const OUTPUT_FLAG = { name: "output", short: "o", metavar: "FILE" } as const;

/** A text, with its flag. */
export function text(flag: KeyFlag, help: string) {
  return { type: "str", flag, help } as const;
}

/** A text that must be given, with its flag. */
export function requiredText(flag: KeyFlag, help: string) {
  return { type: "str", required: true, flag, help } as const;
}

/** A boolean that is false by default, with its flag. */
export function toggle(help: string, flagName?: string) {
  return { type: "bool", default: false, flag: { name: flagName }, help } as const;
}

/** One of several words, with its flag. */
export function choice<const C extends readonly string[]>(choices: C, preset: C[number], help: string) {
  return { type: "str", choices, default: preset, flag: {}, help } as const;
}

type KeyValue<K extends Key> =
  | (K extends { readonly choices: readonly (infer C)[] } ? C : KeyTypes[K["type"]])
  | (K extends { readonly nullable: true } ? null : never);

/** The values of a command's keys: `undefined` for those that are neither required nor have a default. */
export type KeyValues<T extends KeyTable> = {
  readonly [Name in keyof T]: T[Name] extends { readonly required: true } | { readonly default: unknown }
    ? KeyValue<T[Name]>
    : KeyValue<T[Name]> | undefined;
};

/** Reads and checks a command's keys; null counts as absent, as in `+limit=null`, unless the key is nullable. */
export function readKeys<const T extends KeyTable>(
  table: T,
  config: { get(path: string): unknown },
): KeyValues<T> {
  const values: Record<string, unknown> = {};
  const missing: string[] = [];
  const invalid: string[] = [];
  for (const [name, key] of Object.entries<Key>(table)) {
    const given = config.get(name);
    if (given === null && key.nullable) {
      values[name] = null;
      continue;
    }
    if (given === undefined || given === null) {
      if (key.required) missing.push(name);
      values[name] = key.default;
      continue;
    }
    const result = coerce(key, given);
    if ("problem" in result) invalid.push(`${name} (${result.problem})`);
    else values[name] = result.value;
  }
  if (missing.length > 0 || invalid.length > 0) throw new CommandKeysError(keysMessage(missing, invalid));
  return values as KeyValues<T>;
}

/**
 * The keys of a command from flags and overrides alone, for commands that need no config. They work even if a config is
 * invalid.
 */
export async function listingKeys<const T extends KeyTable>(
  context: CommandContext,
  table: T,
): Promise<KeyValues<T>> {
  const given = await givenValues(context);
  return readKeys(table, { get: (key) => (Object.hasOwn(given, key) ? given[key] : undefined) });
}

/** Top-level keys that flags and overrides set. */
export function givenKeys({ overrides }: CommandContext): string[] {
  return overrides.map((override) => {
    const path = typeof override === "string" ? override.replace(/^[+~]+/, "") : override.path;
    return /^[^.=[@]*/.exec(path)?.[0] ?? path;
  });
}

/** Values of flags are final; only the user's words need the override grammar, which is slow to load. */
async function givenValues({ overrides, env }: CommandContext): Promise<Record<string, unknown>> {
  const flags = overrides.filter((override) => typeof override !== "string");
  if (flags.length === overrides.length)
    return Object.fromEntries(flags.map(({ path, value }) => [path, value]));
  const [{ applyOverrides }, { plainFromNode }] = await Promise.all([
    import("../config/door.ts"),
    import("../config/light-door.ts"),
  ]);
  return plainFromNode(applyOverrides(overrides, env)) as Record<string, unknown>;
}

function keysMessage(missing: readonly string[], invalid: readonly string[]): string {
  const parts: string[] = [];
  if (missing.length > 0) {
    const example = missing[0];
    parts.push(
      `missing required configuration: ${missing.join(", ")}. ` +
        `Provide each via its flag (see --help) or as a +${example}=<value> override.`,
    );
  }
  if (invalid.length > 0) parts.push(`invalid configuration: ${invalid.join("; ")}.`);
  return parts.join(" ");
}

type Coerced = { value: unknown } | { problem: string };

const TRUE_WORDS = new Set(["true", "t", "yes", "y", "on", "1"]);
const FALSE_WORDS = new Set(["false", "f", "no", "n", "off", "0"]);

/** Numbers and booleans may be text, because environment interpolations always return text. */
function coerce(key: Key, given: unknown): Coerced {
  const result = coercions[key.type](given);
  if ("problem" in result) return result;
  const { value } = result;
  if (key.choices !== undefined && !key.choices.includes(String(value))) {
    return { problem: `must be one of ${key.choices.map((choice) => `'${choice}'`).join(", ")}` };
  }
  if (key.minimum !== undefined && typeof value === "number" && value < key.minimum) {
    return { problem: `must be at least ${key.minimum}` };
  }
  if (key.positive && typeof value === "number" && value <= 0) return { problem: "must be more than 0" };
  if (key.maximum !== undefined && typeof value === "number" && value > key.maximum) {
    return { problem: `must be at most ${key.maximum}` };
  }
  return result;
}

const coercions: Record<KeyType, (given: unknown) => Coerced> = {
  any: (value) => ({ value }),
  str: (given) => (typeof given === "string" ? { value: given } : { problem: "must be text" }),
  int: (given) => {
    const value = toNumber(given);
    return Number.isSafeInteger(value) ? { value } : { problem: "must be an integer" };
  },
  float: (given) => {
    const value = toNumber(given);
    return value === undefined || Number.isNaN(value) ? { problem: "must be a number" } : { value };
  },
  bool: (given) => {
    if (typeof given === "boolean") return { value: given };
    const word = String(given).toLowerCase();
    if (TRUE_WORDS.has(word)) return { value: true };
    return FALSE_WORDS.has(word) ? { value: false } : { problem: "must be true or false" };
  },
  list: (given) => (Array.isArray(given) ? { value: given } : { problem: "must be a list" }),
  dict: (given) =>
    typeof given === "object" && given !== null && !Array.isArray(given)
      ? { value: given }
      : { problem: "must be a mapping" },
};

function toNumber(given: unknown): number | undefined {
  if (typeof given === "number") return given;
  return typeof given === "string" && given.trim() !== "" ? Number(given) : undefined;
}

/** The name of a key's type in help. */
export function typeName(key: Key): string {
  return key.choices === undefined ? key.type : key.choices.map((choice) => `'${choice}'`).join(" | ");
}

/** ` [required]`, ` [default: x]` or nothing. */
export function describeDefault(key: Key): string {
  if (key.required) return " [required]";
  if (key.computed) return " [default: computed]";
  return key.default === undefined ? "" : ` [default: ${key.default}]`;
}

const FLAG_KINDS = {
  bool: "switch",
  str: "text",
  int: "value",
  float: "value",
  list: "value",
  dict: "value",
  any: "value",
} as const satisfies Record<KeyType, Flag["kind"]>;
const METAVARS: Partial<Record<KeyType, string>> = { int: "N", float: "X" };
const COMPLETIONS: Readonly<Record<string, Completes>> = { FILE: "file", DIR: "directory" };

/** The flags of a key table. */
export function keyFlags(table: KeyTable): FlagTable {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, key]) =>
      key.flag === undefined ? [] : [[key.flag.name ?? name.replaceAll("_", "-"), flagOf(name, key)]],
    ),
  );
}

function flagOf(name: string, key: Key): Flag {
  const kind = key.flag?.kind ?? FLAG_KINDS[key.type];
  const metavar = key.flag?.metavar ?? METAVARS[key.type];
  const isSwitch = kind === "switch";
  return {
    kind,
    key: name,
    help: key.help,
    short: key.flag?.short,
    choices: key.choices,
    metavar: key.choices || isSwitch ? undefined : metavar,
    completes: COMPLETIONS[metavar ?? ""],
    default: key.default === undefined || isSwitch ? undefined : String(key.default),
  };
}
