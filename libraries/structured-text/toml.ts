import { OpaqueValue } from "nemo-gym/verify";
import { Namespace, NamespaceError, type Table, type TomlKey } from "./toml-namespace.ts";
import { numberPattern, readNumber } from "./toml-number.ts";
import { TomlStrings } from "./toml-strings.ts";

/** Maximum nesting of arrays and inline tables; Python's reader stops at about the same depth. */
const maxDepth = 400;

/** Maximum number of parts of a dotted key: a definition takes time proportional to the square of their number. */
const maxKeyParts = 1000;

const time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?";
const dateTime = new RegExp(
  `([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(?:[Tt ]${time}(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?`,
  "y",
);
const localTime = new RegExp(time, "y");
const special = /[+-]?(?:inf|nan)/y;
const bareKey = /[A-Za-z0-9_-]+/y;

/** Reads a TOML 1.0 document like Python's `tomllib`; dates and times are opaque values. */
export function parseToml(text: string): Table {
  return new TomlReader(text.replaceAll("\r\n", "\n")).read();
}

class TomlReader extends TomlStrings {
  private readonly namespace = new Namespace();
  private header: TomlKey = [];
  private depth = 0;

  read(): Table {
    while (this.position < this.source.length) {
      this.skip(" \t");
      if (!this.at("\n")) this.statement();
      this.skip(" \t");
      this.comment();
      if (this.position < this.source.length && !this.at("\n"))
        this.fail("expected a new line after a statement");
      this.position++;
    }
    return this.namespace.data;
  }

  private statement(): void {
    if (this.position >= this.source.length || this.at("#")) return;
    const place = this.position;
    try {
      if (this.at("[[")) this.listHeader();
      else if (this.at("[")) this.tableHeader();
      else {
        const { key, value } = this.pair();
        this.namespace.assign(this.header, key, value);
      }
    } catch (error) {
      if (error instanceof NamespaceError) this.fail(error.message, place);
      throw error;
    }
  }

  private tableHeader(): void {
    this.position++;
    this.header = this.key();
    this.namespace.openTable(this.header);
    if (!this.at("]")) this.fail("expected ']' at the end of a table declaration");
    this.position++;
  }

  private listHeader(): void {
    this.position += 2;
    this.header = this.key();
    this.namespace.openListItem(this.header);
    if (!this.at("]]")) this.fail("expected ']]' at the end of an array declaration");
    this.position += 2;
  }

  private pair(): { key: TomlKey; value: unknown } {
    const key = this.key();
    if (!this.at("=")) this.fail("expected '=' after a key");
    this.position++;
    this.skip(" \t");
    return { key, value: this.value() };
  }

  private key(): string[] {
    const parts: string[] = [];
    do {
      this.skip(" \t");
      parts.push(this.keyPart());
      this.skip(" \t");
      if (parts.length > maxKeyParts) this.fail(`a key of more than ${maxKeyParts} parts`);
    } while (this.take("."));
    return parts;
  }

  private keyPart(): string {
    if (this.at("'")) return this.literalString();
    if (this.at('"')) return this.basicString();
    const bare = this.match(bareKey)?.[0];
    return bare ?? this.fail("expected a key");
  }

  private value(): unknown {
    if (this.at('"""')) return this.multilineBasicString();
    if (this.at('"')) return this.basicString();
    if (this.at("'''")) return this.multilineLiteralString();
    if (this.at("'")) return this.literalString();
    if (this.take("true")) return true;
    if (this.take("false")) return false;
    if (this.at("[")) return this.nested(() => this.array());
    if (this.at("{")) return this.nested(() => this.inlineTable());
    const date = this.match(dateTime);
    if (date) return this.dateOf(date);
    const clock = this.match(localTime);
    if (clock) return new OpaqueValue("time", clock[0]);
    const number = this.match(numberPattern);
    if (number) return readNumber(number) ?? this.fail("the number is too long");
    const word = this.match(special)?.[0];
    if (word === undefined) return this.fail("invalid value");
    if (word.endsWith("nan")) return Number.NaN;
    return word.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  private nested<Value>(read: () => Value): Value {
    if (++this.depth > maxDepth) this.fail(`nested deeper than ${maxDepth} levels`);
    const value = read();
    this.depth--;
    return value;
  }

  private dateOf([text, year, month, day]: RegExpExecArray): OpaqueValue {
    const days = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
    if (Number(year) === 0 || Number(day) > days) this.fail("invalid date");
    return new OpaqueValue("datetime", text);
  }

  private array(): unknown[] {
    this.position++;
    const items: unknown[] = [];
    for (;;) {
      this.skipLines();
      if (this.take("]")) return items;
      items.push(this.value());
      this.skipLines();
      if (this.take("]")) return items;
      if (!this.take(",")) this.fail("unclosed array");
    }
  }

  private inlineTable(): Table {
    this.position++;
    const table = new Namespace();
    this.skip(" \t");
    if (this.take("}")) return table.data;
    for (;;) {
      const { key, value } = this.pair();
      table.assignInline(key, value);
      this.skip(" \t");
      if (this.take("}")) return table.data;
      if (!this.take(",")) this.fail("unclosed inline table");
    }
  }

  private skipLines(): void {
    for (;;) {
      const start = this.position;
      this.skip(" \t\n");
      this.comment();
      if (this.position === start) return;
    }
  }

  private comment(): void {
    if (this.at("#")) this.untilBreak();
  }
}
