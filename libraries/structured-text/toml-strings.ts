import { FormatError } from "nemo-gym/verify";

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};
const control = /[\x00-\x08\x0a-\x1f\x7f]/g;
const controlButBreak = /[\x00-\x08\x0b-\x1f\x7f]/g;
const specialInBasic = /["\\\x00-\x08\x0a-\x1f\x7f]/g;
const specialInMultilineBasic = /["\\\x00-\x08\x0b-\x1f\x7f]/g;

/** A TOML text with a current position; reads the four kinds of strings. */
export class TomlStrings {
  protected readonly source: string;
  protected position = 0;

  constructor(source: string) {
    this.source = source;
  }

  protected fail(message: string, position = this.position): never {
    throw new FormatError("toml", `${message} at character ${position + 1}`);
  }

  protected at(text: string): boolean {
    return this.source.startsWith(text, this.position);
  }

  protected take(text: string): boolean {
    if (!this.at(text)) return false;
    this.position += text.length;
    return true;
  }

  protected match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.source);
    if (found === null) return undefined;
    this.position += found[0].length;
    return found;
  }

  protected skip(characters: string): void {
    while (this.position < this.source.length && characters.includes(this.source[this.position] ?? ""))
      this.position++;
  }

  /** Reads to the end of the line; control characters are not allowed. */
  protected untilBreak(): void {
    const end = this.source.indexOf("\n", this.position);
    this.upTo(end < 0 ? this.source.length : end, control);
  }

  private upTo(end: number, forbidden: RegExp): string {
    forbidden.lastIndex = this.position;
    const found = forbidden.exec(this.source);
    if (found && found.index < end) this.fail("a control character", found.index);
    const text = this.source.slice(this.position, end);
    this.position = end;
    return text;
  }

  protected literalString(): string {
    this.position++;
    return this.until("'", control);
  }

  private until(end: string, forbidden: RegExp): string {
    const found = this.source.indexOf(end, this.position);
    if (found < 0) this.fail("unterminated string");
    const text = this.upTo(found, forbidden);
    this.position += end.length;
    return text;
  }

  protected multilineLiteralString(): string {
    this.position += 3;
    this.take("\n");
    return this.withExtraQuotes(this.until("'''", controlButBreak), "'");
  }

  protected multilineBasicString(): string {
    this.position += 3;
    this.take("\n");
    return this.withExtraQuotes(this.basicContent(true), '"');
  }

  protected basicString(): string {
    this.position++;
    return this.basicContent(false);
  }

  /** One or two quotes may occur directly before the closing three. */
  private withExtraQuotes(text: string, quote: string): string {
    if (!this.take(quote)) return text;
    return this.take(quote) ? text + quote + quote : text + quote;
  }

  private basicContent(multiline: boolean): string {
    const special = multiline ? specialInMultilineBasic : specialInBasic;
    let text = "";
    for (;;) {
      special.lastIndex = this.position;
      const found = special.exec(this.source);
      if (found === null) this.fail("unterminated string");
      text += this.source.slice(this.position, found.index);
      this.position = found.index + 1;
      if (found[0] === "\\") text += this.escape(multiline);
      else if (found[0] !== '"') this.fail("a control character", found.index);
      else if (!multiline) return text;
      else if (this.take('""')) return text;
      else text += '"';
    }
  }

  private escape(multiline: boolean): string {
    const letter = this.source[this.position];
    if (letter === undefined) return this.fail("unterminated string");
    if (multiline && " \t\n".includes(letter)) return this.lineContinuation();
    this.position++;
    const known = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (known !== undefined) return known;
    if (letter === "u") return this.codePoint(4);
    if (letter === "U") return this.codePoint(8);
    return this.fail("an unescaped '\\' in a string");
  }

  private lineContinuation(): string {
    this.skip(" \t");
    if (this.position >= this.source.length) return "";
    if (!this.at("\n")) this.fail("an unescaped '\\' in a string");
    this.skip(" \t\n");
    return "";
  }

  private codePoint(length: number): string {
    const hex = this.source.slice(this.position, this.position + length);
    if (hex.length < length || !/^[0-9A-Fa-f]+$/.test(hex)) this.fail("invalid hex value");
    this.position += length;
    const code = Number.parseInt(hex, 16);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) this.fail("not a Unicode scalar value");
    return String.fromCodePoint(code);
  }
}
