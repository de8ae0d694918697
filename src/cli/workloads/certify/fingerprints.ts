/** Words of a passage that two texts rarely share by chance. */
const LONG = 13;
/** For rows that are shorter than a passage. */
const SHORT = 5;
/** Hashes kept of each row: the smallest ones, as in MinHash. */
const SKETCH = 4;
/** Characters of a shingle, for rows of even fewer words. */
const SHINGLE = 8;
/** Share of a row's hashes that a text must have to count as a copy. Shingles overlap, so that similar rows share some. */
const SHARED = 0.5;
const SHARED_SHINGLES = 0.75;
const EMPTY = 0;

/**
 * An index of rows by hashes of their passages. Memory is 4 hashes a row. Case, punctuation and line breaks do not count; a row
 * is also found inside a longer text, unless it has fewer than 9 letters and digits.
 */
export class Fingerprints {
  #hashes: Uint32Array;
  #rows: Uint32Array;
  #size = 0;
  #rowCount = 0;
  /** How many hashes of each row a text must have. */
  #needed = new Uint8Array(1024);
  /** Which shingles of short rows there may be: a filter of one bit per hash. Absent without such rows. */
  #shingles?: Uint8Array;
  readonly #words: number[] = [];

  constructor(expectedRows = 1024) {
    const capacity = 2 ** Math.ceil(Math.log2(expectedRows * SKETCH * 2));
    this.#hashes = new Uint32Array(capacity);
    this.#rows = new Uint32Array(capacity);
  }

  /** Number of rows. */
  get length(): number {
    return this.#rowCount;
  }

  add(text: string): void {
    const row = this.#rowCount++;
    const plain = plainText(text);
    const passages = this.#passagesOf(plain);
    const shingles = passages.length === 0 ? shinglesOf(plain) : [];
    const whole = passages.length === 0 && shingles.length < 2;
    const sketch = whole ? [hashText(lettersOf(plain))] : smallest(passages.length > 0 ? passages : shingles);
    if (!whole && passages.length === 0) {
      this.#shingles ??= new Uint8Array(FILTER_BYTES);
      for (const hash of sketch) {
        const at = filterByte(hash);
        this.#shingles[at] = (this.#shingles[at] ?? 0) | (1 << (hash & 7));
      }
    }
    if (row >= this.#needed.length) this.#needed = grown(this.#needed);
    this.#needed[row] = Math.ceil(sketch.length * (passages.length > 0 ? SHARED : SHARED_SHINGLES));
    for (const hash of sketch) this.#insert(hash, row);
  }

  /** The first row of which the text has a copy. */
  find(text: string): number | undefined {
    if (this.#size === 0) return undefined;
    const plain = plainText(text);
    const counts = new Map<number, number>();
    const seen = new Set<number>();
    const count = (hash: number): number | undefined => {
      if (!this.#has(hash) || seen.has(hash)) return undefined;
      seen.add(hash);
      for (const row of this.#rowsOf(hash)) {
        const found = (counts.get(row) ?? 0) + 1;
        counts.set(row, found);
        if (found >= (this.#needed[row] ?? 1)) return row;
      }
      return undefined;
    };
    wordHashes(plain, this.#words);
    for (const size of [LONG, SHORT])
      for (const hash of this.#grams(size)) {
        const row = count(hash);
        if (row !== undefined) return row;
      }
    if (this.#shingles !== undefined)
      for (const hash of shinglesOf(plain)) {
        if (((this.#shingles[filterByte(hash)] ?? 0) & (1 << (hash & 7))) === 0) continue;
        const row = count(hash);
        if (row !== undefined) return row;
      }
    if (this.#words.length >= SHORT) return undefined;
    const whole = hashText(lettersOf(plain));
    return this.#has(whole) ? this.#rowsOf(whole)[0] : undefined;
  }

  /** The hashes of the longest passages that the text has. */
  #passagesOf(plain: string): number[] {
    wordHashes(plain, this.#words);
    const long = this.#grams(LONG);
    return long.length > 0 ? long : this.#grams(SHORT);
  }

  /** The hashes of all passages of `size` words. */
  #grams(size: number): number[] {
    const words = this.#words;
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

const FILTER_BYTES = 1 << 17;

function filterByte(hash: number): number {
  return (hash >>> 8) & (FILTER_BYTES - 1);
}

function grown(from: Uint8Array): Uint8Array<ArrayBuffer> {
  const to = new Uint8Array(from.length * 2);
  to.set(from);
  return to;
}

/** The text with composed characters in lower case. ASCII is left to the hashes. */
function plainText(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize("NFC").toLowerCase() : text;
}

/** The character code of a letter or digit in lower case; 0 for anything else, such as typographic quotes. */
function letterCode(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) return code;
  if (code < 0xaa || (code >= 0x2000 && code < 0x2c00)) return 0;
  if ((code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xff0f)) return 0;
  return OTHER_MARKS.has(code) ? 0 : code;
}

const OTHER_MARKS = new Set([..."«¬®¯°±´¶·¸»¿×÷：；？！（）"].map((mark) => mark.charCodeAt(0)));

/** The hashes of the words: runs of letters and digits, without case. Fills `into`. */
function wordHashes(text: string, into: number[]): void {
  into.length = 0;
  let hash = 0;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = letterCode(text.charCodeAt(index));
    if (code !== 0) {
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
}

const SHINGLE_POWER = Array.from({ length: SHINGLE - 1 }).reduce<number>(
  (power) => Math.imul(power, BASE),
  1,
);

/** The hashes of all runs of letters and digits, without what is between them. */
function shinglesOf(text: string): number[] {
  const last = new Uint16Array(SHINGLE);
  const hashes: number[] = [];
  let hash = 0;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = letterCode(text.charCodeAt(index));
    if (code === 0) continue;
    const slot = length % SHINGLE;
    if (length >= SHINGLE) hash = (hash - Math.imul(last[slot] ?? 0, SHINGLE_POWER)) | 0;
    last[slot] = code;
    hash = (Math.imul(hash, BASE) + code) | 0;
    if (++length >= SHINGLE) hashes.push(mixed(hash ^ ~SHINGLE));
  }
  return hashes;
}

function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0 || 1;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), BASE);
  return mixed(hash);
}
