import { inspect } from "node:util";
import { z } from "zod";
import type { Key, KeyType } from "./config-key.ts";
import { GymError } from "./errors.ts";
import { isObject } from "./python/json/json-object.ts";
import { suggest } from "./suggest.ts";

/** A schema for each option of an interface. The compiler finds options that a table lacks. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: z.ZodType };

const MAX_SHOWN = 60;

export const text = z.string("must be a string");
export const texts = z.array(z.string(), "must be a list of strings");
export const flag = z.boolean("must be true or false");
export const numberOption = z.number("must be a number");
export const seconds = numberOption.positive("must be more than 0");
export const callback = z.custom((value) => typeof value === "function", "must be a function");
export const record = z.custom(isObject, "must be an object");
export const signal = z.instanceof(AbortSignal, { error: "must be an AbortSignal" });

export function whole(least: number): z.ZodType<number> {
  const error = `must be a whole number of at least ${least}`;
  return z.int(error).min(least, error);
}

export function oneOfWords(choices: readonly string[]): z.ZodType {
  return z.enum(choices as [string, ...string[]], `must be one of ${choices.join(", ")}`);
}

/** The schema of an option that a config key sets too. Code gives a value of its own type, where a config may give text. */
export function schemaOf(key: Key): z.ZodType {
  const schema = key.choices === undefined ? SCHEMAS[key.type](key) : oneOfWords(key.choices);
  return (key.nullable ? schema.nullable() : schema).optional();
}

const SCHEMAS: Readonly<Record<KeyType, (key: Key) => z.ZodType>> = {
  any: () => z.unknown(),
  str: () => text,
  int: ({ minimum = Number.MIN_SAFE_INTEGER }) => whole(minimum),
  float: ({ positive, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }) =>
    positive
      ? seconds
      : numberOption.min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`),
  bool: () => flag,
  list: () => z.array(z.unknown(), "must be a list"),
  dict: () => record,
};

/** Finds the mistakes that the TypeScript compiler would find: unknown options and values of other types. */
export function checkOptions<Options extends object>(
  caller: string,
  table: OptionTable<Options>,
  given: Options,
): void {
  const problem = problemOf(table, given);
  if (problem !== undefined) throw new GymError("OPTIONS_INVALID", `${caller}: ${problem}`);
}

function problemOf(table: Readonly<Record<string, z.ZodType>>, given: unknown): string | undefined {
  if (!isObject(given)) return `the options must be an object, not ${shown(given)}.`;
  const names = Object.keys(table);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined) {
    const nearest = suggest(unknown, names);
    const hint = nearest ? `Did you mean '${nearest}'?` : `The options are ${names.join(", ")}.`;
    return `there is no option '${unknown}'. ${hint}`;
  }
  for (const [name, schema] of Object.entries(table)) {
    const { error } = schema.safeParse(given[name]);
    if (error) return `'${name}' ${error.issues[0]?.message}, not ${shown(given[name])}.`;
  }
  return undefined;
}

function shown(value: unknown): string {
  const text = inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY });
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
