import { z } from "zod";
import { pyStr } from "../../base/python/door.ts";
import { PyFloat } from "../../base/python/numbers/door.ts";
import { suggest } from "../../base/suggest.ts";
import { integerOf } from "../../config/door.ts";

/** The pattern of a text, and its description for messages. */
export type TextRule = readonly [pattern: RegExp, what: string];

/** A text without line breaks and other control characters can be part of a script line. */
const ONE_LINE: TextRule = [/^[^\p{Cc}]+$/u, "a text of one line"];

export const textSchema = ([pattern, what]: TextRule = ONE_LINE) =>
  z
    .string({
      error: ({ input }) =>
        typeof input === "object" ? "must be a text" : "must be a text; put it in quotes",
    })
    .regex(pattern, { error: `must be ${what}` });

/** A value that may be absent. Null means absent. */
export const optionalSchema = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

export const orDefault = <T extends z.ZodType>(schema: T, value: z.output<T>) =>
  schema.nullish().transform((given): z.output<T> => given ?? value);

export const integerSchema = (minimum: number, maximum?: number) =>
  z.unknown().transform((value, context) => {
    const number = typeof value === "boolean" ? undefined : integerOf(value);
    if (number !== undefined && number >= minimum && number <= (maximum ?? Number.MAX_SAFE_INTEGER))
      return number;
    const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
    context.addIssue(`must be a whole number ${range}`);
    return z.NEVER;
  });

export const boolean = z.unknown().transform((value, context) => {
  const word = String(value).toLowerCase();
  if (word !== "true" && word !== "false") context.addIssue("must be true or false");
  return word === "true";
});

/** One of several words. The error for another word suggests the nearest. */
export const choiceSchema = <const Choices extends readonly string[]>(choices: Choices) =>
  z.enum(choices, { error: ({ input }) => notOneOf(input, choices) });

export function notOneOf(given: unknown, choices: readonly string[]): string {
  if (typeof given !== "string") return "must be a text; put it in quotes";
  return `'${given}' is not one of ${choices.join(", ")}${nearest(given, choices)}`;
}

/** Texts by name. A number becomes a text as it is written. */
export const textsSchema = (
  [pattern, what]: TextRule,
  check: (value: string) => string | undefined = () => undefined,
) =>
  orDefault(
    z
      .record(z.string(), z.unknown(), { error: "must be a mapping" })
      .transform((entries, context): ReadonlyMap<string, string> => {
        const result = new Map<string, string>();
        for (const [name, value] of Object.entries(entries)) {
          const problem = (message: string) => context.addIssue({ code: "custom", path: [name], message });
          if (!pattern.test(name)) problem(`must be ${what}`);
          const word = wordOf(value);
          if (word === undefined) problem("must be a text; put it in quotes");
          else {
            const fault = check(word);
            if (fault !== undefined) problem(fault);
            result.set(name, word);
          }
        }
        return result;
      }),
    new Map(),
  );

function wordOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const isNumber = typeof value === "number" || typeof value === "bigint" || value instanceof PyFloat;
  return isNumber ? pyStr(value) : undefined;
}

export const textListSchema = ([pattern, what]: TextRule) =>
  orDefault(
    z.array(
      z.custom<string>((item) => typeof item === "string" && pattern.test(item), {
        error: `must be ${what}`,
      }),
      { error: "must be a list of texts" },
    ),
    [],
  );

/** A mapping with a fixed set of keys. An issue about unknown keys has one line for each of them. */
export const block = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return "must be a mapping";
      const known = Object.keys(shape);
      return issue.keys
        .map((key) => `unknown key '${key}'${nearest(key, known) || `. Known: ${known.join(", ")}.`}`)
        .join("\n");
    },
  });

/** Blocks by name. An empty block has the defaults. */
export const blocks = <T extends z.ZodType>(schema: T, nameError: string, name: RegExp) =>
  orDefault(
    z
      .record(
        z.string().regex(name),
        z.preprocess((value) => value ?? {}, schema),
        {
          error: ({ code }) => (code === "invalid_key" ? nameError : "must be a mapping"),
        },
      )
      .transform((entries): ReadonlyMap<string, z.output<T>> => new Map(Object.entries(entries))),
    new Map(),
  );

/** `. Did you mean 'x'?`, or an empty text. */
export function nearest(word: string, candidates: readonly string[]): string {
  const close = suggest(word, candidates);
  return close === undefined ? "" : `. Did you mean '${close}'?`;
}
