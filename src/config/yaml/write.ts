import { codePointLength } from "../../base/python/door.ts";
import { floatRepr, isPyFloat } from "../../base/python/numbers/door.ts";
import { escapeInterpolations } from "../interpolation/interpolation-grammar.ts";
import type { ConfigNode, DictKey, DictNode, ListNode, ScalarNode, ScalarValue } from "../node.ts";
import { plainScalar } from "./scalars.ts";

type TextStyle = "plain" | "single" | "double";

/** Words that are not texts for PyYAML's dumper: dates, `=`, `<<`, `y` and `n`. */
const ALSO_TYPED =
  /^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?|=|<<|[yYnN])$/;
/** Texts that Python's `int()` or `float()` accept. They are quoted, so that no reader takes them for numbers. */
const PYTHON_NUMBER =
  /^\s*[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?(?:[eE][-+]?\d+(?:_\d+)*)?|\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)\s*$/i;

const LEADING_INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?=\s|$)|---|\.\.\.)/;
const INNER_INDICATOR = /:(?=\s|$)|(?<=\s)#/;
/** Characters that need double quotes: those that are not printable in YAML, and line breaks other than \n. */
const NEEDS_ESCAPE = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10fffe}]/u;

/** The style in which a text reads back as the same text. */
function textStyle(text: string, asKey: boolean): TextStyle {
  if (NEEDS_ESCAPE.test(text)) return "double";
  if (text.includes(" \n") || text.includes("\n ")) return "double";
  if (text.includes("\n")) return asKey ? "double" : "single";
  return canBePlain(text) ? "plain" : "single";
}

function canBePlain(text: string): boolean {
  if (text === "" || text.startsWith(" ") || text.endsWith(" ")) return false;
  if (LEADING_INDICATOR.test(text) || INNER_INDICATOR.test(text)) return false;
  return typeof plainScalar(text) === "string" && !ALSO_TYPED.test(text) && !PYTHON_NUMBER.test(text);
}

/** Texts are folded at the first blank after this column. */
const WIDTH = 80;
/** Longer keys are written with `?`. */
const SIMPLE_KEY_LENGTH = 123;

/** Writes a config in the layout of PyYAML: block style, two blanks per level, list dashes at the parent's column. */
export function writeYaml(node: ConfigNode): string {
  const writer = new YamlWriter();
  writer.document(node);
  return writer.text;
}

class YamlWriter {
  readonly #parts: string[] = [];
  #column = 0;

  get text(): string {
    return this.#parts.join("");
  }

  document(node: ConfigNode): void {
    this.#value(node, 0, "inline");
    this.#write("\n");
  }

  /** Writes a value. The first line of a container starts at the cursor (`inline`) or on a new line. */
  #value(node: ConfigNode, indent: number, start: "inline" | "line"): void {
    if (node.kind === "dict" && node.entries.size > 0) this.#dict(node, indent, start);
    else if (node.kind === "list" && node.items.length > 0) this.#list(node, indent, start);
    else this.#leaf(node, indent);
  }

  #dict(node: DictNode, indent: number, start: "inline" | "line"): void {
    let inline = start === "inline";
    for (const [key, value] of node.entries) {
      if (!inline) this.#newLine(indent);
      inline = false;
      if (isSimpleKey(key)) {
        this.#scalar(key, indent, true);
        this.#write(":");
        // Lists start at the column of their key, mappings one level deeper.
        const hangs = value.kind === "list" && isFilled(value);
        this.#value(value, hangs ? indent : indent + 2, "line");
      } else {
        this.#write("? ");
        this.#scalar(key, indent + 2, false);
        this.#newLine(indent);
        this.#item(":", value, indent);
      }
    }
  }

  #list(node: ListNode, indent: number, start: "inline" | "line"): void {
    let inline = start === "inline";
    for (const item of node.items) {
      if (!inline) this.#newLine(indent);
      inline = false;
      this.#item("-", item, indent);
    }
  }

  /** A value after a dash, or after the colon of a long key. It starts on the same line. */
  #item(indicator: string, value: ConfigNode, indent: number): void {
    this.#write(isFilled(value) ? `${indicator} ` : indicator);
    this.#value(value, indent + 2, "inline");
  }

  #leaf(node: ConfigNode, indent: number): void {
    if (this.#column > 0) this.#write(" ");
    if (node.kind === "list") this.#write("[]");
    else if (node.kind === "dict") this.#write("{}");
    else this.#scalarNode(node, Math.max(indent, 2));
  }

  #scalarNode(node: ScalarNode, indent: number): void {
    // The next reader would take a literal `${` for an interpolation.
    const escaped =
      node.literal && typeof node.value === "string" ? escapeInterpolations(node.value) : node.value;
    this.#scalar(escaped, indent, false);
  }

  #scalar(value: ScalarValue, indent: number, asKey: boolean): void {
    if (typeof value !== "string") this.#write(scalarText(value));
    else if (textStyle(value, asKey) === "plain") this.#plain(value, indent, !asKey);
    else if (textStyle(value, asKey) === "single") this.#single(value, indent, !asKey);
    else this.#double(value, indent, !asKey);
  }

  #plain(text: string, indent: number, fold: boolean): void {
    for (const part of blankRuns(text)) {
      if (part === " " && fold && this.#column > WIDTH) this.#newLine(indent);
      else this.#write(part);
    }
  }

  #single(text: string, indent: number, fold: boolean): void {
    this.#write("'");
    let at = 0;
    for (const part of blankRuns(text)) {
      at += part.length;
      const inner = at > part.length && at < text.length;
      if (part === " " && inner && fold && this.#column > WIDTH) this.#newLine(indent);
      else if (part.startsWith("\n")) this.#breaks(part, indent);
      else this.#write(part.replaceAll("'", "''"));
    }
    this.#write("'");
  }

  /** Writes one more line break, because a single one would be folded into a blank. */
  #breaks(run: string, indent: number): void {
    this.#write(run);
    this.#newLine(indent);
  }

  #double(text: string, indent: number, fold: boolean): void {
    this.#write('"');
    const characters = Array.from(text);
    for (const [index, character] of characters.entries()) {
      const folds = fold && index > 0 && index < characters.length - 1;
      if (folds && character === " " && this.#column > WIDTH) this.#foldDouble(indent, true);
      const written = escapeCharacter(character);
      this.#write(written);
      if (folds && written !== character && this.#column > WIDTH)
        this.#foldDouble(indent, characters[index + 1] === " ");
    }
    this.#write('"');
  }

  /** Breaks the line inside double quotes. A blank after the break must be escaped. */
  #foldDouble(indent: number, beforeBlank: boolean): void {
    this.#write("\\");
    this.#newLine(indent);
    if (beforeBlank) this.#write("\\");
  }

  #newLine(indent: number): void {
    this.#parts.push(`\n${" ".repeat(indent)}`);
    this.#column = indent;
  }

  #write(text: string): void {
    this.#parts.push(text);
    const lastBreak = text.lastIndexOf("\n");
    this.#column =
      lastBreak < 0 ? this.#column + codePointLength(text) : codePointLength(text.slice(lastBreak + 1));
  }
}

function isFilled(node: ConfigNode): boolean {
  return (node.kind === "dict" && node.entries.size > 0) || (node.kind === "list" && node.items.length > 0);
}

function isSimpleKey(key: DictKey): boolean {
  return typeof key !== "string" || (key !== "" && key.length < SIMPLE_KEY_LENGTH && !key.includes("\n"));
}

function scalarText(value: Exclude<ScalarValue, string>): string {
  if (value === null) return "null";
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (!isPyFloat(value)) return BigInt(value).toString();
  const number = Number(value);
  if (Number.isNaN(number)) return ".nan";
  if (!Number.isFinite(number)) return number > 0 ? ".inf" : "-.inf";
  const text = floatRepr(value);
  return text.includes(".") ? text : text.replace("e", ".0e");
}

/** Splits at runs of blanks and of line breaks, and keeps the runs. */
function blankRuns(text: string): string[] {
  return text.split(/( +|\n+)/).filter((part) => part !== "");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\x85": "\\N",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function escapeCharacter(character: string): string {
  const known = ESCAPES[character];
  if (known !== undefined) return known;
  if (/[\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(character) && character.length === 1)
    return character;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
  if (code <= 0xffff) return `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `\\U${code.toString(16).toUpperCase().padStart(8, "0")}`;
}
