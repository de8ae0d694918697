import { scanBlockScalar, scanPlain, scanQuoted } from "./scan-scalars.ts";

/** A token of a YAML text. Tokens describe the block structure, so the parser does not see indentation. */
export type YamlToken =
  | { kind: "scalar"; offset: number; value: string; plain: boolean }
  | { kind: "alias" | "anchor" | "tag"; offset: number; value: string }
  | {
      kind:
        | "stream end"
        | "directive"
        | "document start"
        | "document end"
        | "block sequence start"
        | "block mapping start"
        | "block end"
        | "["
        | "]"
        | "{"
        | "}"
        | ","
        | "-"
        | "?"
        | ":";
      offset: number;
    };

export type YamlTokenKind = YamlToken["kind"];

/** A mistake in the text. The reader converts it to an error with file, line and column. */
export class YamlSyntaxError extends Error {
  readonly offset: number;

  constructor(problem: string, offset: number) {
    super(problem);
    this.offset = offset;
  }
}

/** Maximum length of a simple key (`key:`) in YAML 1.1. It must also be on one line. */
const MAX_SIMPLE_KEY = 1024;

const CANNOT_START_TEXT: ReadonlySet<string> = new Set("\t#|>%@`");

const TAG = /!(?:<[^>\s]*>|[\w;/?:@&=+$,.!~*'()[\]%#-]*)/y;
const NAME = /[0-9A-Za-z_-]+/y;

/** A possible simple key: it becomes a key if a `:` follows on the same line. */
interface SimpleKey {
  tokenNumber: number;
  /** In block context, content at the current indentation must be a key. */
  required: boolean;
  offset: number;
  column: number;
}

/** Whether `code` ends a word: a blank, tab, line break or the end of the text. */
export function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || Number.isNaN(code);
}

/**
 * Splits YAML 1.1 into tokens like PyYAML, whose dialect OmegaConf reads. Every command and server process loads this code,
 * and a general library takes fifteen times as long to load.
 */
export class YamlScanner {
  readonly text: string;
  at = 0;
  /** The column of the current block; its content is further right. -1 at the top level. */
  indent = -1;
  flowLevel = 0;
  /** Whether a simple key may start here: at the start of a line, after `-`, `?` and flow punctuation. */
  allowSimpleKey = true;
  #lineStart = 0;
  #tokens: YamlToken[] = [];
  #taken = 0;
  #done = false;
  readonly #indents: number[] = [];
  #simpleKeys: (SimpleKey | undefined)[] = [];

  /** `text` must use `\n` for line breaks. */
  constructor(text: string) {
    this.text = text;
  }

  get column(): number {
    return this.at - this.#lineStart;
  }

  /** The next token, without consuming it. */
  peek(): YamlToken {
    while (this.#needsMore()) this.#fetch();
    return this.#tokens[0] ?? { kind: "stream end", offset: this.at };
  }

  /** Consumes the next token. */
  take(): YamlToken {
    const token = this.peek();
    this.#tokens.shift();
    this.#taken++;
    return token;
  }

  /** The character code `distance` ahead; NaN at the end. */
  code(distance = 0): number {
    return this.text.charCodeAt(this.at + distance);
  }

  /** Consumes one line break. */
  newLine(): void {
    this.at++;
    this.#lineStart = this.at;
  }

  atDocumentMarker(): boolean {
    return (
      this.column === 0 &&
      (this.text.startsWith("---", this.at) || this.text.startsWith("...", this.at)) &&
      isBlank(this.code(3))
    );
  }

  fail(problem: string, offset = this.at): never {
    throw new YamlSyntaxError(problem, offset);
  }

  /** A token is final when no possible simple key can insert a key token before it. */
  #needsMore(): boolean {
    if (this.#done) return false;
    if (this.#tokens.length === 0) return true;
    this.#dropStaleKeys();
    return this.#simpleKeys.some((key) => key?.tokenNumber === this.#taken);
  }

  #fetch(): void {
    this.#skipToToken();
    this.#dropStaleKeys();
    this.#unwindIndent(this.column);
    const character = this.text[this.at];
    if (character === undefined) this.#fetchEnd();
    else if (this.column === 0 && character === "%") this.#fetchDirective();
    else if (this.atDocumentMarker())
      this.#fetchMarker(character === "-" ? "document start" : "document end");
    else this.#fetchContent(character);
  }

  #fetchContent(character: string): void {
    const inFlow = this.flowLevel > 0;
    const standsAlone = isBlank(this.code(1));
    if (character === "[" || character === "{") this.#fetchFlowStart(character);
    else if (character === "]" || character === "}") this.#fetchFlowEnd(character);
    else if (character === ",") this.#fetchFlowEntry();
    else if (character === "-" && standsAlone) this.#fetchBlockEntry();
    else if (character === "?" && (inFlow || standsAlone)) this.#fetchKey();
    else if (character === ":" && (inFlow || standsAlone)) this.#fetchValue();
    else if (character === "*" || character === "&") this.#fetchName(character);
    else if (character === "!") this.#fetchTag();
    else if ((character === "|" || character === ">") && !inFlow) this.#fetchBlockScalar();
    else if (character === "'" || character === '"') this.#fetchQuoted(character);
    else if (!CANNOT_START_TEXT.has(character)) this.#fetchPlain();
    else if (character === "\t") this.fail("found a tab where only spaces are allowed");
    else this.fail(`found '${character}', which cannot start a text; put it in quotes`);
  }

  #leaveBlocks(): void {
    this.#unwindIndent(-1);
    this.#forgetKey();
    this.allowSimpleKey = false;
  }

  #fetchEnd(): void {
    this.#leaveBlocks();
    this.#push("stream end");
    this.#done = true;
  }

  #fetchDirective(): void {
    this.#leaveBlocks();
    if (this.text.startsWith("%TAG", this.at)) this.fail("%TAG directives are not supported");
    this.#push("directive");
    this.#skipLine();
  }

  #fetchMarker(kind: "document start" | "document end"): void {
    this.#leaveBlocks();
    this.#push(kind, 3);
  }

  #fetchFlowStart(kind: "[" | "{"): void {
    this.#rememberKey();
    this.flowLevel++;
    this.allowSimpleKey = true;
    this.#push(kind, 1);
  }

  #fetchFlowEnd(kind: "]" | "}"): void {
    this.#forgetKey();
    this.flowLevel = Math.max(this.flowLevel - 1, 0);
    this.allowSimpleKey = false;
    this.#push(kind, 1);
  }

  #fetchFlowEntry(): void {
    this.allowSimpleKey = true;
    this.#forgetKey();
    this.#push(",", 1);
  }

  /** Starts a block at the current column, unless it is already open or the scanner is in flow style. */
  #startBlock(content: string, kind: "block sequence start" | "block mapping start"): void {
    if (this.flowLevel > 0) return;
    if (!this.allowSimpleKey) this.fail(`${content} are not allowed here`);
    if (this.#addIndent(this.column)) this.#push(kind);
  }

  #fetchBlockEntry(): void {
    this.#startBlock("sequence entries", "block sequence start");
    this.allowSimpleKey = true;
    this.#forgetKey();
    this.#push("-", 1);
  }

  #fetchKey(): void {
    this.#startBlock("mapping keys", "block mapping start");
    this.allowSimpleKey = this.flowLevel === 0;
    this.#forgetKey();
    this.#push("?", 1);
  }

  #fetchValue(): void {
    const key = this.#simpleKeys[this.flowLevel];
    if (key !== undefined) {
      this.#simpleKeys[this.flowLevel] = undefined;
      const place = key.tokenNumber - this.#taken;
      this.#tokens.splice(place, 0, { kind: "?", offset: key.offset });
      if (this.flowLevel === 0 && this.#addIndent(key.column))
        this.#tokens.splice(place, 0, { kind: "block mapping start", offset: key.offset });
      this.allowSimpleKey = false;
    } else {
      this.#startBlock("mapping values", "block mapping start");
      this.allowSimpleKey = this.flowLevel === 0;
      this.#forgetKey();
    }
    this.#push(":", 1);
  }

  #fetchName(indicator: "*" | "&"): void {
    const kind = indicator === "*" ? "alias" : "anchor";
    const offset = this.#startText();
    this.at++;
    NAME.lastIndex = this.at;
    const value = NAME.exec(this.text)?.[0];
    this.at += value?.length ?? 0;
    const next = this.text[this.at];
    if (value === undefined || (!isBlank(this.code()) && !"?:,]}%@`".includes(next ?? "")))
      this.fail(`expected a name of letters and digits for the ${kind}`);
    this.#tokens.push({ kind, offset, value });
  }

  #fetchTag(): void {
    const offset = this.#startText();
    TAG.lastIndex = this.at;
    const value = TAG.exec(this.text)?.[0] ?? "!";
    this.at += value.length;
    if (!isBlank(this.code())) this.fail("expected a space after the tag");
    this.#tokens.push({ kind: "tag", offset, value });
  }

  #fetchBlockScalar(): void {
    const offset = this.at;
    this.allowSimpleKey = true;
    this.#forgetKey();
    this.#tokens.push({ kind: "scalar", offset, value: scanBlockScalar(this), plain: false });
  }

  #fetchQuoted(quote: "'" | '"'): void {
    const offset = this.#startText();
    this.#tokens.push({ kind: "scalar", offset, value: scanQuoted(this, quote), plain: false });
  }

  #fetchPlain(): void {
    const offset = this.#startText();
    this.#tokens.push({ kind: "scalar", offset, value: scanPlain(this), plain: true });
  }

  /** Remembers that a simple key may start here. Returns the offset. */
  #startText(): number {
    this.#rememberKey();
    this.allowSimpleKey = false;
    return this.at;
  }

  #push(kind: Exclude<YamlTokenKind, "scalar" | "alias" | "anchor" | "tag">, length = 0): void {
    this.#tokens.push({ kind, offset: this.at });
    this.at += length;
  }

  /** Moves to the end of the line. */
  #skipLine(): void {
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  #skipToToken(): void {
    for (;;) {
      while (this.code() === 32) this.at++;
      if (this.text[this.at] === "#") this.#skipLine();
      if (this.code() !== 10) return;
      this.newLine();
      if (this.flowLevel === 0) this.allowSimpleKey = true;
    }
  }

  #rememberKey(): void {
    if (!this.allowSimpleKey) return;
    this.#forgetKey();
    const required = this.flowLevel === 0 && this.indent === this.column;
    const tokenNumber = this.#taken + this.#tokens.length;
    this.#simpleKeys[this.flowLevel] = { tokenNumber, required, offset: this.at, column: this.column };
  }

  #forgetKey(): void {
    const key = this.#simpleKeys[this.flowLevel];
    if (key?.required) this.fail("could not find expected ':'");
    this.#simpleKeys.length = this.flowLevel;
  }

  #dropStaleKeys(): void {
    for (const [level, key] of this.#simpleKeys.entries()) {
      if (key === undefined) continue;
      if (key.offset >= this.#lineStart && this.at - key.offset <= MAX_SIMPLE_KEY) continue;
      if (key.required) this.fail("could not find expected ':'");
      this.#simpleKeys[level] = undefined;
    }
  }

  #unwindIndent(column: number): void {
    if (this.flowLevel > 0) return;
    while (this.indent > column) {
      this.indent = this.#indents.pop() ?? -1;
      this.#push("block end");
    }
  }

  #addIndent(column: number): boolean {
    if (this.indent >= column) return false;
    this.#indents.push(this.indent);
    this.indent = column;
    return true;
  }
}
