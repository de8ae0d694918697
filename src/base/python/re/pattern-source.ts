import { RegexSyntaxError } from "./syntax-error.ts";

/** Reads a pattern character by character. Positions count code points. */
export class PatternSource {
  position = 0;
  private readonly characters: readonly string[];

  constructor(pattern: string) {
    this.characters = Array.from(pattern);
  }

  get done(): boolean {
    return this.position >= this.characters.length;
  }

  peek(): string | undefined {
    return this.characters[this.position];
  }

  next(atEnd = "unexpected end of pattern", position = this.position): string {
    const character = this.characters[this.position];
    if (character === undefined) return this.fail(atEnd, position);
    this.position++;
    return character;
  }

  /** Consumes `character` if it is next. */
  take(character: string): boolean {
    if (this.characters[this.position] !== character) return false;
    this.position++;
    return true;
  }

  takeWhile(wanted: (character: string) => boolean, limit = Number.POSITIVE_INFINITY): string {
    let taken = "";
    for (let count = 0; count < limit; count++) {
      const character = this.characters[this.position];
      if (character === undefined || !wanted(character)) break;
      taken += character;
      this.position++;
    }
    return taken;
  }

  /** The text up to `terminator`, which is consumed. */
  takeUntil(terminator: string, whenEmpty: string): string {
    const start = this.position;
    const end = this.characters.indexOf(terminator, start);
    if (end < 0) this.fail(`missing ${terminator}, unterminated name`, start);
    if (end === start) this.fail(whenEmpty, start);
    this.position = end + 1;
    return this.characters.slice(start, end).join("");
  }

  fail(message: string, position = this.position): never {
    throw new RegexSyntaxError(message, position);
  }
}
