import { pyStr } from "../../base/python/door.ts";
import { isObject, type JsonObject, loads } from "../../base/python/json/door.ts";
import { suggest } from "../../base/suggest.ts";
import { DatasetError } from "../errors.ts";

/** What a field of a source may mean, with its usual names. */
export const MEANINGS = {
  messages: ["messages", "conversation", "chat"],
  conversations: ["conversations", "conversation"],
  chosen: ["chosen", "preferred", "response_chosen"],
  rejected: ["rejected", "dispreferred", "response_rejected"],
  system: ["system", "system_prompt"],
  instruction: ["instruction"],
  context: ["input", "context"],
  question: ["question", "problem", "prompt", "query", "instruction", "input", "text"],
  expected_answer: [
    "expected_answer",
    "answer",
    "completion",
    "response",
    "output",
    "target",
    "label",
    "answer_key",
    "answerkey",
    "correct_answer",
    "final_answer",
    "solution",
  ],
  options: ["options", "choices"],
} as const satisfies Record<string, readonly string[]>;

export type Meaning = keyof typeof MEANINGS;

/** Meanings that `--map` takes. */
export const MAPPABLE = [
  "question",
  "expected_answer",
  "options",
  "system",
  "messages",
  "chosen",
  "rejected",
] as const;

/** The fields of one row by their meaning. */
export class Fields {
  readonly #row: JsonObject;
  readonly #map: Readonly<Record<string, string>>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #used = new Set<string>();

  constructor(row: JsonObject, map: Readonly<Record<string, string>> = {}) {
    this.#row = row;
    this.#map = map;
    this.#names = new Map(Object.keys(row).map((name) => [plainName(name), name]));
  }

  /** The name of the field with this meaning. */
  nameOf(meaning: Meaning): string | undefined {
    const given = this.#map[meaning];
    if (given !== undefined) return this.#existing(given);
    return MEANINGS[meaning].map((name) => this.#names.get(name)).find((name) => name !== undefined);
  }

  has(meaning: Meaning): boolean {
    return this.nameOf(meaning) !== undefined;
  }

  /** The value with this meaning; it is not among the rest. */
  take(meaning: Meaning): unknown {
    const name = this.nameOf(meaning);
    if (name === undefined) return undefined;
    this.#used.add(name);
    return this.#row[name] ?? undefined;
  }

  /** A field by its own name, without regard to case. */
  takeNamed(name: string): unknown {
    const found = this.#names.get(plainName(name));
    if (found === undefined) return undefined;
    this.#used.add(found);
    return this.#row[found] ?? undefined;
  }

  hasNamed(name: string): boolean {
    return this.#names.has(plainName(name));
  }

  /** The fields that were not taken, without those that a run writes. */
  rest(): JsonObject {
    return Object.fromEntries(
      Object.entries(this.#row).filter(
        ([name]) => name !== "" && !this.#used.has(name) && !OF_A_RUN.has(name) && !name.startsWith("_ng_"),
      ),
    );
  }

  #existing(name: string): string {
    if (Object.hasOwn(this.#row, name)) return name;
    const names = Object.keys(this.#row);
    const nearest = suggest(name, names);
    throw new Misfit(
      `there is no field '${name}'${nearest === undefined ? ` (${names.join(", ")})` : `; did you mean '${nearest}'?`}`,
    );
  }
}

const OF_A_RUN = new Set(["responses_create_params", "response", "reward", "agent_ref"]);

/** Why a row does not fit. */
export class Misfit extends Error {}

function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
}

/** Reads `--map` as a table from meanings to fields. */
export function readMap(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, meaning = "", field = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
      if ((MAPPABLE as readonly string[]).includes(meaning) && field !== "") return [meaning, field];
      const nearest = suggest(meaning || pair, MAPPABLE);
      throw new DatasetError(
        "DATASET_ARGUMENTS_INVALID",
        `--map ${pair}: write NAME=FIELD, where NAME is ${MAPPABLE.join(", ")}${nearest === undefined ? "" : `; did you mean '${nearest}'?`}.`,
      );
    }),
  );
}

/** A text, or a number or word as its text. Lists and objects are no text. */
export function textOf(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) throw new Misfit(`${what} is empty`);
  if (typeof value === "object" && !isNumberObject(value)) throw new Misfit(`${what} is not a text`);
  return pyStr(value);
}

function isNumberObject(value: object): boolean {
  return typeof value.valueOf() === "number" || typeof value.valueOf() === "bigint";
}

/** A cell of a table may hold a list as JSON. */
export function listOf(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return loads(value);
  } catch {
    return value;
  }
}

/** The options of a question with their labels. */
export interface Options {
  readonly labels: readonly string[];
  readonly texts: readonly string[];
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** A list, `{text, label}`, `{A: …}`, `[{A: …}]`, or the fields A, B, C, …. */
export function optionsOf(fields: Fields): Options | undefined {
  const given = listOf(fields.take("options"));
  if (given !== undefined && given !== "") return listedOptions(given);
  const letters = [...LETTERS].findIndex((letter) => !fields.hasNamed(letter));
  if (letters < 2) return undefined;
  const labels = [...LETTERS].slice(0, letters);
  return { labels, texts: labels.map((letter) => textOf(fields.takeNamed(letter), `the option ${letter}`)) };
}

function listedOptions(given: unknown): Options {
  if (Array.isArray(given)) {
    const pairs = given.every((item) => isObject(item) && Object.keys(item).length === 1);
    if (pairs && given.length > 0) return listedOptions(Object.assign({}, ...given));
    const texts = given.map((item) => textOf(isObject(item) ? item["text"] : item, "an option"));
    return { labels: lettersFor(texts.length), texts };
  }
  if (isObject(given) && Array.isArray(given["text"])) {
    const texts = given["text"].map((text) => textOf(text, "an option"));
    const labels = Array.isArray(given["label"]) ? given["label"].map(pyStr) : lettersFor(texts.length);
    if (labels.length !== texts.length)
      throw new Misfit(`there are ${labels.length} labels for ${texts.length} options`);
    return { labels, texts };
  }
  if (isObject(given))
    return {
      labels: Object.keys(given),
      texts: Object.values(given).map((text) => textOf(text, "an option")),
    };
  throw new Misfit("the options are not a list");
}

function lettersFor(count: number): string[] {
  if (count > LETTERS.length)
    throw new Misfit(`there are ${count} options; at most ${LETTERS.length} have letters`);
  return [...LETTERS].slice(0, count);
}

/** The position of the right option: by label, by text, or by its number from 0. */
export function rightOption(answer: unknown, { labels, texts }: Options): number {
  const text = textOf(answer, "the answer").trim();
  const byLabel = labels.findIndex(
    (label) => label.toLowerCase() === text.replace(/^\(?(.+?)[).]?$/, "$1").toLowerCase(),
  );
  if (byLabel >= 0) return byLabel;
  const equal = texts.flatMap((option, index) => (option.trim() === text ? [index] : []));
  if (equal.length > 1) throw new Misfit(`the answer '${text}' is the text of ${equal.length} options`);
  const number = /^\d+$/.test(text) ? Number(text) : -1;
  const isNumber = number >= 0 && number < texts.length;
  const [byText] = equal;
  if (byText !== undefined && isNumber && byText !== number)
    throw new Misfit(`the answer ${text} is both the number and the text of an option`);
  if (byText !== undefined) return byText;
  if (isNumber) return number;
  throw new Misfit(
    `the answer '${text}' is none of the ${texts.length} options: neither a label (${labels.join(", ")}), nor a text, nor a number from 0 to ${texts.length - 1}`,
  );
}

export function letterAt(index: number): string {
  return LETTERS[index] as string;
}
