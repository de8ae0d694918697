import { optionalPackage } from "../../base/door.ts";
import type { Tokenizer } from "./functions.ts";

interface Library {
  encode: (text: string, options: { disallowedSpecial: Set<string> }) => number[];
}
/** The bytes of each token: a text, or a list where they are no text by themselves. */
type Vocabulary = { default: readonly (string | readonly number[])[] };

const LOADERS: Readonly<Record<string, () => Promise<[Library, Vocabulary]>>> = {
  o200k_base: () =>
    Promise.all([import("gpt-tokenizer/encoding/o200k_base"), import("gpt-tokenizer/bpeRanks/o200k_base")]),
  cl100k_base: () =>
    Promise.all([import("gpt-tokenizer/encoding/cl100k_base"), import("gpt-tokenizer/bpeRanks/cl100k_base")]),
};

/** The tokenizers that a prepare.yaml names, in its text or its arguments. */
export function tokenizerNames(text: string, args: Readonly<Record<string, unknown>>): string[] {
  const words = `${text} ${Object.values(args).join(" ")}`;
  return Object.keys(LOADERS).filter((name) => words.includes(name));
}

/** Loads them: the tables are large, and most benchmarks count no tokens. */
export async function loadTokenizers(
  names: readonly string[],
): Promise<(name: string) => Tokenizer | undefined> {
  const loaded = new Map<string, Tokenizer>();
  for (const name of names) {
    const load = LOADERS[name];
    if (load === undefined) continue;
    const parts = await optionalPackage("gpt-tokenizer", `The tokenizer ${name} of a prepare.yaml`, load);
    const [library, { default: vocabulary }] = parts;
    loaded.set(name, {
      encode: (text) => library.encode(text, { disallowedSpecial: new Set() }),
      // The library drops half a character at the end; Python writes U+FFFD.
      decode: (tokens) =>
        Buffer.concat(tokens.map((token) => Buffer.from((vocabulary[token] ?? "") as string))).toString(
          "utf8",
        ),
    });
  }
  return (name) => loaded.get(name);
}
