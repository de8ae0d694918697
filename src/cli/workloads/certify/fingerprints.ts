/** Words of a passage that two texts rarely share by chance. */
const LONG = 13;
/** For rows that are shorter than a passage. */
const SHORT = 5;
/** Hashes kept of each row: the smallest ones, as in MinHash. */
const SKETCH = 4;
/** Share of a row's hashes that a text must have to count as a copy. */
const SHARED = 0.5;
const EMPTY = 0;

/**
 * An index of rows by hashes of their passages. Memory is 4 hashes a row. Case, punctuation and line breaks do not count; a row
 * is also found inside a longer text.
 */
export class Fingerprints {
  #hashes: Uint32Array;
  #rows: Uint32Array;
  #size = 0;
  readonly #sketchSizes: number[] = [];
  readonly #words: number[] = [];

  constructor(expectedRows = 1024) {
    const capacity = 2 ** Math.ceil(Math.log2(expectedRows * SKETCH * 2));
    this.#hashes = new Uint32Array(capacity);
    this.#rows = new Uint32Array(capacity);
  }

  /** Number of rows. */
  get length(): number {
    return this.#sketchSizes.length;
  }

  add(text: string): void {
    const row = this.#sketchSizes.length;
    const sketch = smallest(this.#hashesOf(text));
    this.#sketchSizes.push(sketch.length);
    for (const hash of sketch) this.#insert(hash, row);
  }

  /** The first row of which the text has a copy. */
  find(text: string): number | undefined {
    if (this.#size === 0) return undefined;
    const counts = new Map<number, number>();
    const seen = new Set<number>();
    for (const size of [LONG, SHORT]) {
      for (const hash of this.#grams(text, size)) {
        if (!this.#has(hash) || seen.has(hash)) continue;
        seen.add(hash);
        for (const row of this.#rowsOf(hash)) {
          const count = (counts.get(row) ?? 0) + 1;
          counts.set(row, count);
          if (count >= Math.ceil((this.#sketchSizes[row] ?? 1) * SHARED)) return row;
        }
      }
    }
    if (this.#words.length >= SHORT) return undefined;
    const whole = hashText(normalized(text));
    return this.#has(whole) ? this.#rowsOf(whole)[0] : undefined;
  }

  #hashesOf(text: string): number[] {
    const long = this.#grams(text, LONG);
    if (long.length > 0) return long.slice();
    const short = this.#grams(text, SHORT);
    return short.length > 0 ? short.slice() : [hashText(normalized(text))];
  }

  /** The hashes of all passages of `size` words. */
  #grams(text: string, size: number): number[] {
    const words = wordHashes(text, this.#words);
    const grams: number[] = [];
    // A polynomial over the word hashes, modulo 2^32.
    let power = 1;
    for (let index = 1; index < size; index++) power = Math.imul(power, BASE);
    let hash = 0;
    for (let index = 0; index < words.length; index++) {
      if (index >= size) hash = (hash - Math.imul(words[index - size] ?? 0, power)) | 0;
      hash = (Math.imul(hash, BASE) + (words[index] ?? 0)) | 0;
      if (index >= size - 1) grams.push(mixed(hash ^ size));
    }
    return grams;
  }

  #insert(hash: number, row: number): void {
    if (this.#size * 2 >= this.#hashes.length) this.#grow();
    const mask = this.#hashes.length - 1;
    let slot = hash & mask;
    while (this.#hashes[slot] !== EMPTY) slot = (slot + 1) & mask;
    this.#hashes[slot] = hash;
    this.#rows[slot] = row;
    this.#size++;
  }

  #has(hash: number): boolean {
    const mask = this.#hashes.length - 1;
    for (let slot = hash & mask; this.#hashes[slot] !== EMPTY; slot = (slot + 1) & mask)
      if (this.#hashes[slot] === hash) return true;
    return false;
  }

  #rowsOf(hash: number): number[] {
    const mask = this.#hashes.length - 1;
    const rows: number[] = [];
    for (
      let slot = hash & mask;
      this.#hashes[slot] !== EMPTY && rows.length < MAX_ROWS;
      slot = (slot + 1) & mask
    )
      if (this.#hashes[slot] === hash) rows.push(this.#rows[slot] ?? 0);
    return rows;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const rows = this.#rows;
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#rows = new Uint32Array(hashes.length * 2);
    this.#size = 0;
    for (const [slot, hash] of hashes.entries()) if (hash !== EMPTY) this.#insert(hash, rows[slot] ?? 0);
  }
}

const BASE = 0x01000193;
/** Rows of one hash that are looked at. A passage of more rows is a phrase of the prompt template. */
const MAX_ROWS = 8;

function smallest(hashes: number[]): number[] {
  const unique = [...new Set(hashes)];
  return unique.sort((a, b) => a - b).slice(0, SKETCH);
}

/** The hashes of the words: runs of letters and digits, without case. Fills and returns `into`. */
function wordHashes(text: string, into: number[]): number[] {
  into.length = 0;
  let hash = 0;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code >= 65 && code <= 90) code += 32;
    const isWord = (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code >= 0xaa;
    if (isWord) {
      hash = Math.imul(hash ^ code, BASE);
      length++;
      // Scripts without spaces have no words; each of their characters counts as one.
      if (code < 0x2e80) continue;
    }
    if (length > 0) into.push(mixed(hash));
    hash = 0;
    length = 0;
  }
  if (length > 0) into.push(mixed(hash));
  return into;
}

function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0 || 1;
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), BASE);
  return mixed(hash);
}
