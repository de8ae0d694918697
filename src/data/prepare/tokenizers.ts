import type { Tokenizer } from "./functions.ts";

const LOADERS: Readonly<
  Record<
    string,
    () => Promise<{
      encode: (text: string, options: { disallowedSpecial: Set<string> }) => number[];
      decode: (tokens: number[]) => string;
    }>
  >
> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
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
    const library = await LOADERS[name]?.();
    if (library === undefined) continue;
    const encode = (text: string) => library.encode(text, { disallowedSpecial: new Set() });
    loaded.set(name, { encode, decode: (tokens) => library.decode([...tokens]) });
  }
  return (name) => loaded.get(name);
}
