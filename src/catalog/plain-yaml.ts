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
  type Origin,
  type Source,
  scalar,
} from "../config/node.ts";
import { plainScalar } from "../config/yaml-scalars.ts";

/** Characters that have no special meaning at the level of the stream: no tabs, carriage returns, marks or controls. */
const UNUSUAL = /[^\n\x20-\x7e\xa1-\u2027\u202a-\ud7ff]/;
/** Indentation, dashes, then a key with or without value, or a value alone. */
const LINE = /^( *)((?:- +)*)(?:([A-Za-z_][\w-]*):(?: +(.*?))? *|(\S.*?) *|)$/;
/** A value that means itself: no indicator in front, no colon or comment in it. */
const PLAIN_VALUE = /^(?:[A-Za-z_0-9/.(\u00a1-\ud7ff]|-[\d.])(?:(?!: | #|:$).)*$/;
/** Deeper files are left to the full reader, which has a limit of its own. */
const MAX_OPEN = 100;
const QUOTED_VALUE = /^(?:'([^'\\]*)'|"([^"\\]*)")$/;

interface Open {
  readonly indent: number;
  readonly node: DictNode | ListNode;
}

/** The config, or undefined when the text is not plain enough to be sure. Mistakes are left to the full reader too. */
export function readPlainYaml(text: string, source: Source): DictNode | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const reader = new PlainReader({ source, line: 0, column: 0 });
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    if (!reader.line(text.slice(start, end))) return undefined;
    start = end + 1;
  }
  return reader.finish();
}

class PlainReader {
  readonly #origin: Origin;
  readonly #root: DictNode;
  readonly #open: Open[];
  /** The key or dash whose value has not come yet, with its column. */
  #pending: { indent: number; set: (node: ConfigNode) => void; inList: boolean } | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
    this.#root = dict(origin);
    this.#open = [{ indent: 0, node: this.#root }];
  }

  /** Takes one line; false when it is not plain. */
  line(text: string): boolean {
    const [, blanks = "", dashes = "", key, value, lone] = LINE.exec(text) ?? [];
    if (lone?.startsWith("#") && dashes === "") return true;
    if (key === undefined && lone === undefined && dashes === "") return text.trim() === "";
    let indent = blanks.length;
    for (const dash of dashes.match(/- +/g) ?? []) {
      if (!this.#enter(indent, "list")) return false;
      this.#addItem(indent);
      indent += dash.length;
    }
    if (key !== undefined) return this.#entry(indent, key, value);
    if (lone === undefined) return true;
    const waiting = this.#pending?.inList === true && indent > this.#pending.indent;
    return waiting && this.#finishValue(lone);
  }

  finish(): DictNode {
    this.#resolvePending(scalar(null, this.#origin));
    return this.#root;
  }

  #entry(indent: number, key: string, value: string | undefined): boolean {
    if (typeof plainScalar(key) !== "string" || !this.#enter(indent, "dict")) return false;
    const { node } = this.#open.at(-1) ?? {};
    if (node?.kind !== "dict" || node.entries.has(key)) return false;
    // The place of the key is that of its first appearance.
    node.entries.set(key, scalar(null, this.#origin));
    this.#pending = { indent, inList: false, set: (member) => node.entries.set(key, member) };
    return value === undefined || value === "" || this.#finishValue(value);
  }

  #addItem(indent: number): void {
    const { node } = this.#open.at(-1) ?? {};
    if (node?.kind !== "list") return;
    const index = node.items.push(scalar(null, this.#origin)) - 1;
    this.#pending = {
      indent,
      inList: true,
      set: (member) => {
        node.items[index] = member;
      },
    };
  }

  #finishValue(text: string): boolean {
    const node = this.#value(text);
    if (node === undefined) return false;
    this.#resolvePending(node);
    return true;
  }

  #value(text: string): ConfigNode | undefined {
    if (text === "[]") return list(this.#origin);
    if (text === "{}") return dict(this.#origin);
    const quoted = QUOTED_VALUE.exec(text);
    if (quoted !== null)
      return text.includes("${") ? undefined : scalar(quoted[1] ?? quoted[2] ?? "", this.#origin);
    // Interpolations are checked when a config is read, which is the full reader's business.
    if (!PLAIN_VALUE.test(text) || text.includes("${")) return undefined;
    return scalar(plainScalar(text), this.#origin);
  }

  #resolvePending(node: ConfigNode): void {
    this.#pending?.set(node);
    this.#pending = undefined;
  }

  /** Makes the container at this column the innermost one, opening it below the pending key if it is new. */
  #enter(indent: number, kind: "dict" | "list"): boolean {
    const pending = this.#pending;
    if (pending !== undefined) {
      // A list may stand at the column of its key; everything else stands deeper.
      const opens =
        indent > pending.indent || (kind === "list" && !pending.inList && indent === pending.indent);
      if (opens) {
        if (this.#open.length > MAX_OPEN) return false;
        const node = kind === "dict" ? dict(this.#origin) : list(this.#origin);
        this.#resolvePending(node);
        this.#open.push({ indent, node });
        return true;
      }
      this.#resolvePending(scalar(null, this.#origin));
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
