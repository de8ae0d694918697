/**
 * Reads config files written in the plain style most of them have: nested keys, lists, words, simple quotes. Reading
 * hundreds of files this way costs a small part of what the full reader takes; whatever is not plain is left to it.
 *
 * @module
 */
import {
  type ConfigNode,
  type DictNode,
  dict,
  type ListNode,
  list,
  MISSING,
  type Origin,
  type Source,
  scalar,
} from "../config/node.ts";
import { plainScalar } from "../config/yaml-scalars.ts";

/** Characters that have no special meaning at the level of the stream: no tabs, carriage returns, marks or controls. */
const UNUSUAL = /[^\n\x20-\x7e\xa1-\u2027\u202a-\ud7ff]/;
/** Indentation, dashes, then a key with or without value. */
const KEY_LINE = /^( *)((?:- +)*)([A-Za-z_][\w-]*):(?: +(.+))?$/;
/** Indentation, dashes, a value alone or nothing. */
const VALUE_LINE = /^( *)((?:- +)*)(.*)$/;
/** What a value that means itself begins with; indicators of YAML are not among it. */
const PLAIN_START = /^(?:[A-Za-z_0-9/.(\u00a1-\ud7ff]|-[\d.])/;
const QUOTED_VALUE = /^(?:'([^']*)'|"([^"\\]*)")$/;
/** A list of words or numbers in one line. */
const WORD_LIST =
  /^\[ *((?:[A-Za-z_][\w./-]*|-?\d+(?:\.\d+)?)(?: *, *(?:[A-Za-z_][\w./-]*|-?\d+(?:\.\d+)?))*) *\]$/;
/** Deeper files are left to the full reader, which has a limit of its own. */
const MAX_OPEN = 100;

interface Open {
  readonly indent: number;
  readonly node: DictNode | ListNode;
}

/** The config, or undefined when the text is not plain enough to be sure. Mistakes are left to the full reader too. */
export function readPlainYaml(text: string, source: Source): DictNode | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const reader = new PlainReader({ source, line: 0, column: 0 });
  for (const line of text.split("\n")) if (!reader.line(line)) return undefined;
  return reader.finish();
}

class PlainReader {
  readonly #origin: Origin;
  readonly #null: ConfigNode;
  readonly #open: Open[];
  /** The mapping or list whose next value has not come yet, with its key and the column of key or dash. */
  #waiting: DictNode | ListNode | undefined;
  #key = "";
  #indent = 0;
  #block: BlockText | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
    this.#null = scalar(null, origin);
    this.#open = [{ indent: 0, node: dict(origin) }];
  }

  /** Takes one line; false when it is not plain. */
  line(written: string): boolean {
    if (this.#block?.take(written)) return true;
    if (!this.#endBlock()) return false;
    const text = written.trimEnd();
    if (text === "") return true;
    const [, blanks = "", dashes = "", key, value] = KEY_LINE.exec(text) ?? [];
    if (key === undefined) return this.#valueLine(text);
    const indent = dashes === "" ? blanks.length : this.#items(blanks.length, dashes);
    if (indent < 0 || typeof plainScalar(key) !== "string" || !this.#enter(indent, "dict")) return false;
    const { node } = this.#open.at(-1) ?? {};
    if (node?.kind !== "dict" || node.entries.has(key)) return false;
    this.#waiting = node;
    this.#key = key;
    this.#indent = indent;
    if (value === "|" || value === "|-") {
      this.#block = new BlockText(indent, value === "|");
      return true;
    }
    return value === undefined || this.#finishValue(value);
  }

  #endBlock(): boolean {
    const text = this.#block === undefined ? null : this.#block.text();
    if (text === undefined) return false;
    if (text !== null) this.#put(scalar(text, this.#origin));
    this.#block = undefined;
    return true;
  }

  finish(): DictNode | undefined {
    if (!this.#endBlock()) return undefined;
    this.#put(this.#null);
    const root = this.#open[0]?.node;
    return root?.kind === "dict" ? root : undefined;
  }

  #valueLine(text: string): boolean {
    const [, blanks = "", dashes = "", value = ""] = VALUE_LINE.exec(text) ?? [];
    if (dashes === "" && value.startsWith("#")) return true;
    const indent = dashes === "" ? blanks.length : this.#items(blanks.length, dashes);
    // A value alone can only be that of a dash; below a key it may go on in the next line.
    return indent > this.#indent && this.#waiting?.kind === "list" && this.#finishValue(value);
  }

  /** Opens a list item for every dash; gives the column behind them, or -1. */
  #items(start: number, dashes: string): number {
    let indent = start;
    for (const dash of dashes.match(/- +/g) ?? []) {
      if (!this.#enter(indent, "list")) return -1;
      this.#waiting = this.#open.at(-1)?.node;
      this.#indent = indent;
      indent += dash.length;
    }
    return indent;
  }

  #finishValue(text: string): boolean {
    const node = this.#value(text);
    if (node === undefined) return false;
    this.#put(node);
    return true;
  }

  #value(text: string): ConfigNode | undefined {
    // Interpolations are checked when a config is read, which is the full reader's business.
    if (text.includes("${")) return undefined;
    if (PLAIN_START.test(text)) {
      const odd = text.includes(": ") || text.includes(" #") || text.endsWith(":");
      return odd ? undefined : scalar(plainScalar(text), this.#origin);
    }
    if (text === "[]") return list(this.#origin);
    if (text === "{}") return dict(this.#origin);
    if (text === MISSING) return scalar(MISSING, this.#origin);
    const quoted = QUOTED_VALUE.exec(text);
    if (quoted !== null) return scalar(quoted[1] ?? quoted[2] ?? "", this.#origin);
    const words = WORD_LIST.exec(text)?.[1]?.split(/ *, */);
    return words === undefined
      ? undefined
      : list(
          this.#origin,
          words.map((word) => scalar(plainScalar(word), this.#origin)),
        );
  }

  /** Gives the waiting key or dash its value. */
  #put(node: ConfigNode): void {
    const waiting = this.#waiting;
    if (waiting?.kind === "dict") waiting.entries.set(this.#key, node);
    else if (waiting?.kind === "list") waiting.items.push(node);
    this.#waiting = undefined;
  }

  /** Makes the container at this column the innermost one, opening it below the waiting key if it is new. */
  #enter(indent: number, kind: "dict" | "list"): boolean {
    if (this.#waiting !== undefined) {
      // A list may stand at the column of its key; everything else stands deeper.
      const hangs = kind === "list" && this.#waiting.kind === "dict" && indent === this.#indent;
      if (indent > this.#indent || hangs) {
        if (this.#open.length > MAX_OPEN) return false;
        const node = kind === "dict" ? dict(this.#origin) : list(this.#origin);
        this.#put(node);
        this.#open.push({ indent, node });
        return true;
      }
      this.#put(this.#null);
    }
    for (let top = this.#open.at(-1); top !== undefined; top = this.#open.at(-1)) {
      if (top.indent < indent) return false;
      // Leaving a list that hangs at the column of its key brings back the mapping at the same column.
      if (top.indent === indent && top.node.kind === kind) return true;
      this.#open.pop();
    }
    return false;
  }
}

/** The text behind `|`, as it is written. */
class BlockText {
  readonly #keyIndent: number;
  readonly #keepsBreak: boolean;
  readonly #lines: string[] = [];
  #indent = -1;
  #odd = false;

  constructor(keyIndent: number, keepsBreak: boolean) {
    this.#keyIndent = keyIndent;
    this.#keepsBreak = keepsBreak;
  }

  /** Takes a line that belongs to the text; false for the first one behind it. */
  take(line: string): boolean {
    if (line === "") {
      this.#lines.push("");
      return true;
    }
    const indent = line.length - line.trimStart().length;
    if (indent <= this.#keyIndent && indent < line.length) return false;
    if (this.#indent < 0) this.#indent = indent;
    // Lines of blanks, and lines that stand out to the left, have rules of their own.
    if (indent < this.#indent || indent === line.length) this.#odd = true;
    this.#lines.push(line.slice(this.#indent));
    return true;
  }

  /** The text; undefined when it is not plain. */
  text(): string | undefined {
    const text = this.#lines.join("\n").replace(/\n+$/, "");
    if (this.#odd || text === "") return undefined;
    return this.#keepsBreak ? `${text}\n` : text;
  }
}
