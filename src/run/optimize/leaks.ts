import { isObject } from "../../base/python/json/door.ts";
import type { Row } from "../../records/files/door.ts";
import type { Texts } from "./merge.ts";
import type { Task } from "./splits.ts";

/** A longer answer counts as copied when this many of its words stand together in a text. */
const GRAM_WORDS = 8;
/** Shorter answers are matched as a whole, if they are not too short to mean anything. */
const LEAST_CHARACTERS = 5;
/** An answer of more tasks than this is a label, such as "positive", or a rule. A prompt may state it. */
const MOST_TASKS = 3;

/** A part of a gold answer that a text of a candidate contains. */
export interface Leak {
  component: string;
  /** Index of the task. */
  task: number;
  /** Where the user finds its row. */
  source: string;
  /** Field of the row with the answer. */
  field: string;
  words: string;
}

/** A leak, and in how many proposals it was. */
export interface CountedLeak extends Leak {
  count: number;
}

interface Gold {
  task: number;
  source: string;
  field: string;
}

/** Finds gold answers in texts: what the verifier of a task knows and its prompt does not show. */
export class LeakCheck {
  /** The tasks of each answer, or of each run of words of a long answer. */
  readonly #answers = new Map<string, Gold[]>();

  constructor(tasks: readonly Task[]) {
    for (const { index, row, source } of tasks) {
      const shown = ` ${words(textsIn(row["responses_create_params"]).join(" ")).join(" ")} `;
      for (const [field, text] of goldTexts(row)) {
        for (const gram of gramsOf(text)) {
          if (shown.includes(` ${gram} `)) continue;
          const owners = this.#answers.get(gram) ?? [];
          if (!owners.some((owner) => owner.task === index)) owners.push({ task: index, source, field });
          this.#answers.set(gram, owners);
        }
      }
    }
  }

  /** The first answer in each text that the text before did not contain. */
  find(texts: Texts, before: Texts): Leak[] {
    return Object.entries(texts).flatMap(([component, text]) => {
      if (text === before[component]) return [];
      const leak = this.#firstIn(text, ` ${words(before[component] ?? "").join(" ")} `);
      return leak ? [{ component, ...leak }] : [];
    });
  }

  #firstIn(text: string, known: string): Omit<Leak, "component"> | undefined {
    const all = words(text);
    for (let start = 0; start < all.length; start++)
      for (let count = 1; count <= GRAM_WORDS; count++) {
        const gram = all.slice(start, start + count).join(" ");
        const owners = this.#answers.get(gram);
        const [owner] = owners ?? [];
        if (owner && owners && owners.length <= MOST_TASKS && !known.includes(` ${gram} `))
          return { ...owner, words: gram };
      }
    return undefined;
  }
}

/** The texts that only the verifier sees, by field. */
function goldTexts(row: Row): [string, string][] {
  return Object.entries(row).flatMap(([field, value]) =>
    field === "responses_create_params" || field === "agent_ref" || field.startsWith("_ng_")
      ? []
      : textsIn(value).map((text): [string, string] => [field, text]),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function gramsOf(text: string): string[] {
  const all = words(text);
  if (all.length < GRAM_WORDS) {
    const whole = all.join(" ");
    return whole.length < LEAST_CHARACTERS ? [] : [whole];
  }
  return all.slice(GRAM_WORDS - 1).map((_, start) => all.slice(start, start + GRAM_WORDS).join(" "));
}

/** Chinese and Japanese are written without spaces, so each character is a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

function words(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replace(UNSPACED, " $& ")
      .match(/[\p{L}\p{N}]+(?:[.,'’-][\p{L}\p{N}]+)*/gu) ?? []
  );
}
