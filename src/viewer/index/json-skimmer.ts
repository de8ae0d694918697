const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const MINUS = 0x2d;

/** A string that is longer than this is searched with the buffer's native method. */
const LOOKED_AT_BYTES = 48;
/** The same for an array of numbers, such as token ids. */
const ARRAY_BYTES = 256;

/** The bytes are not JSON. */
export class SkimError extends Error {}

/**
 * Scans the JSON in a buffer without building values. It checks the structure, but not the content of strings and
 * numbers, and skips long strings and token arrays at memory speed.
 */
export class JsonSkimmer {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  end = 0;

  open(bytes: Buffer, from: number, to: number): void {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
  }

  /** The next byte that is not whitespace; 0 at the end. */
  peek(): number {
    const { bytes, end } = this;
    let { at } = this;
    while (at < end && isSpace(bytes[at] ?? 0)) at++;
    this.at = at;
    return at < end ? (bytes[at] ?? 0) : 0;
  }

  /** Enters an object or array. Returns false, and leaves it again, if it is empty. */
  enter(): boolean {
    const close = this.bytes[this.at] === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    this.at++;
    if (this.peek() !== close) return true;
    this.at++;
    return false;
  }

  /** Moves to the next member or item. Returns false, and leaves the object or array, if there is none. */
  next(): boolean {
    const byte = this.peek();
    if (byte === COMMA) {
      this.at++;
      return true;
    }
    if (byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY) throw new SkimError("a comma or an end is missing");
    this.at++;
    return false;
  }

  /** Reads the key of a member: from `keyStart` to `keyEnd`. The value follows. */
  key(): void {
    if (this.peek() !== QUOTE) throw new SkimError("a key is missing");
    this.keyStart = this.at + 1;
    this.skipString();
    this.keyEnd = this.at - 1;
    if (this.peek() !== COLON) throw new SkimError("a colon is missing");
    this.at++;
  }
  keyStart = 0;
  keyEnd = 0;

  /** Whether the last key equals this one. */
  keyIs(name: Uint8Array): boolean {
    const { bytes, keyStart } = this;
    if (this.keyEnd - keyStart !== name.length) return false;
    for (let index = 0; index < name.length; index++)
      if (bytes[keyStart + index] !== name[index]) return false;
    return true;
  }

  /** Skips a string; `at` must be at its opening quote. */
  skipString(): void {
    const { bytes, end } = this;
    let at = this.at + 1;
    const near = Math.min(end, at + LOOKED_AT_BYTES);
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.at = at + 1;
        return;
      }
      at += byte === BACKSLASH ? 2 : 1;
    }
    const start = this.at;
    for (;;) {
      const found = bytes.indexOf(QUOTE, at);
      if (found === -1 || found >= end) throw new SkimError("a string does not end");
      let before = found - 1;
      while (before > start && bytes[before] === BACKSLASH) before--;
      at = found + 1;
      if ((found - before) % 2 === 1) break;
    }
    this.at = at;
  }

  skipValue(): void {
    const first = this.peek();
    if (first === QUOTE) this.skipString();
    else if (first === OPEN_OBJECT || first === OPEN_ARRAY) this.#skipNested();
    else this.#skipScalar(first);
  }

  /** The text between two positions, for short ASCII such as numbers and names. */
  latin1(from: number, to: number): string {
    return this.bytes.toString("latin1", from, to);
  }

  /** The number or boolean at `at`; undefined for anything else. */
  number(): number | undefined {
    const first = this.peek();
    if (first === QUOTE || first === OPEN_OBJECT || first === OPEN_ARRAY) {
      this.skipValue();
      return undefined;
    }
    const from = this.at;
    this.#skipScalar(first);
    // Most rewards and counts are a single digit.
    if (this.at === from + 1) return first - 0x30;
    const text = this.latin1(from, this.at);
    if (text === "true") return 1;
    if (text === "false") return 0;
    const value = text === "null" ? Number.NaN : Number(text);
    return Number.isFinite(value) ? value : undefined;
  }

  #skipNested(): void {
    const { bytes, end } = this;
    let depth = 0;
    while (this.at < end) {
      const byte = bytes[this.at];
      if (byte === QUOTE) {
        this.skipString();
        continue;
      }
      if (byte === OPEN_ARRAY && this.#skipNumbers()) {
        if (depth === 0) return;
        continue;
      }
      this.at++;
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return;
    }
    throw new SkimError("an object or array does not end");
  }

  /** Skips a long array of numbers. Returns false, without moving, if it is not one. */
  #skipNumbers(): boolean {
    const { bytes, at, end } = this;
    const first = bytes[at + 1] ?? 0;
    if (!isDigit(first) && first !== MINUS) return false;
    const near = Math.min(end, at + ARRAY_BYTES);
    for (let place = at + 1; place < near; place++) {
      const byte = bytes[place] ?? 0;
      if (byte === CLOSE_ARRAY) {
        this.at = place + 1;
        return true;
      }
      if (byte === QUOTE || byte === OPEN_ARRAY || byte === OPEN_OBJECT) return false;
    }
    const close = bytes.indexOf(CLOSE_ARRAY, near);
    if (close === -1 || close >= end) return false;
    const inside = bytes.subarray(near, close);
    if (inside.includes(QUOTE) || inside.includes(OPEN_ARRAY) || inside.includes(OPEN_OBJECT)) return false;
    this.at = close + 1;
    return true;
  }

  #skipScalar(first: number): void {
    const { bytes, end } = this;
    const from = this.at;
    let at = from;
    while (at < end && isScalar(bytes[at] ?? 0)) at++;
    this.at = at;
    if (isDigit(first) || (first === MINUS && at > from + 1)) return;
    const word = this.latin1(from, Math.min(at, from + 12));
    if (word !== "null" && word !== "true" && word !== "false" && word !== "NaN" && word !== "Infinity")
      throw new SkimError("a value is missing");
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Letters, digits, sign, point: the characters of a number or a literal. */
function isScalar(byte: number): boolean {
  return (
    isDigit(byte) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x2b ||
    byte === MINUS ||
    byte === 0x2e
  );
}
