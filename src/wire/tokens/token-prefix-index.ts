/** A sequence of token ids given as its two halves, so that they need not be copied together. */
export interface TokenSequence {
  prompt_token_ids: readonly number[];
  generation_token_ids: readonly number[];
}

/** Two 32-bit hashes over a growing prefix; equality is always checked on the ids themselves afterwards. */
class PrefixHash {
  #left = 0x811c9dc5;
  #right = 0x9e3779b9;

  add(id: number): void {
    this.#left = Math.imul(this.#left ^ id, 0x01000193);
    this.#right = Math.imul(this.#right + id, 0x85ebca6b) ^ (this.#right >>> 13);
  }

  key(): string {
    return `${this.#left},${this.#right}`;
  }
}

/** Finds the longest known sequence that a prompt begins with, in time linear in the prompt. */
export class TokenPrefixIndex<T extends TokenSequence> {
  readonly #byLength = new Map<number, Map<string, T[]>>();

  add(sequence: T): void {
    const hash = new PrefixHash();
    for (const id of sequence.prompt_token_ids) hash.add(id);
    for (const id of sequence.generation_token_ids) hash.add(id);
    const length = lengthOf(sequence);
    const ofLength = this.#byLength.get(length) ?? new Map<string, T[]>();
    this.#byLength.set(length, ofLength);
    const known = ofLength.get(hash.key());
    if (known === undefined) ofLength.set(hash.key(), [sequence]);
    else known.push(sequence);
  }

  /** Every sequence that is the longest one `prompt` begins with; several when they are identical. */
  longestPrefixes(prompt: readonly number[]): T[] {
    const lengths = [...this.#byLength.keys()]
      .filter((length) => length > 0 && length <= prompt.length)
      .sort((left, right) => left - right);
    const hash = new PrefixHash();
    const likely: T[][] = [];
    let position = 0;
    for (const length of lengths) {
      while (position < length) hash.add(prompt[position++] ?? 0);
      const found = this.#byLength.get(length)?.get(hash.key());
      if (found !== undefined) likely.push(found);
    }
    // Hashes can collide, so the ids decide; the longest candidate is nearly always the one.
    for (const candidates of likely.reverse()) {
      const matching = candidates.filter((sequence) => isPrefix(sequence, prompt));
      if (matching.length > 0) return matching;
    }
    return [];
  }
}

const lengthOf = ({ prompt_token_ids, generation_token_ids }: TokenSequence) =>
  prompt_token_ids.length + generation_token_ids.length;

function isPrefix(
  { prompt_token_ids, generation_token_ids }: TokenSequence,
  ids: readonly number[],
): boolean {
  return standsAt(prompt_token_ids, ids, 0) && standsAt(generation_token_ids, ids, prompt_token_ids.length);
}

function standsAt(part: readonly number[], ids: readonly number[], offset: number): boolean {
  for (let index = 0; index < part.length; index++) if (part[index] !== ids[offset + index]) return false;
  return true;
}
