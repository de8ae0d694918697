import { strip } from "nemo-gym/python";
import { z } from "zod";

export const Ranges = z.array(
  z.looseObject({ key: z.string(), start: z.number().int().nullish(), end: z.number().int().nullish() }),
);
export type Ranges = z.output<typeof Ranges>;

/** Pages that a rollout has stored under names. */
export class Documents {
  readonly #texts = new Map<string, string>();

  /** The answer of the tool that stores a page. */
  save(key: string, text: string): string {
    const warning = this.#texts.has(key)
      ? "WARNING: The key already exists in the data storage. The new result overwrites the old one.\n"
      : "";
    this.#texts.set(key, text);
    const keys = [...this.#texts.keys()].join("\n");
    return `${warning}SUCCESS: The result has been saved to the data storage under the key: ${key}.\nThe data_storage currently contains the following keys:\n${keys}\n`;
  }

  /** A prompt with its `{{key}}` replaced, or why that is not possible. */
  fill(prompt: string, ranges: Ranges): { text: string } | { error: string } {
    const keys = [...prompt.matchAll(/\{\{([^{}]+)\}\}/g)].map(([, key]) => key ?? "");
    if (keys.length === 0)
      return {
        error: "ERROR: The prompt must contain at least one key of the data storage in the form {{key}}.",
      };
    const missing = keys.find((key) => !this.#texts.has(key));
    if (missing !== undefined)
      return {
        error: `ERROR: The key '${missing}' was not found in the data storage. Available keys are: ${[...this.#texts.keys()].join(", ")}. Use the parse_html_page tool to add keys to the data storage.`,
      };
    const text = prompt.replace(/\{\{([^{}]+)\}\}/g, (_, key: string) => {
      const { start, end } = ranges.findLast((each) => each.key === key) ?? {};
      const characters = this.#texts.get(key) ?? "";
      // As in the original, half a range is none.
      return start == null || end == null ? characters : [...characters].slice(start, end).join("");
    });
    return { text };
  }

  clear(): void {
    this.#texts.clear();
  }
}

/** A list of texts, also written as JSON or as a list of Python. */
export const TextList = z.preprocess((value) => {
  if (typeof value !== "string") return value;
  const given = strip(value);
  try {
    return JSON.parse(given);
  } catch {
    if (!/^\[(?:\s*'[^']*'\s*,?)*\s*\]$/.test(given)) return value;
    return [...given.matchAll(/'([^']*)'/g)].map(([, text]) => text);
  }
}, z.array(z.string()).nullish());

/** The same for lists of ranges. */
export const RangeList = z.preprocess((value) => {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}, Ranges.nullish());
