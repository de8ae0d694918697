/**
 * Reads config files written in the plain style most of them have: nested keys, lists, words, simple quotes. Reading
 * hundreds of files this way costs a small part of what the full reader takes; whatever is not plain is left to it.
 *
 * A listing is over before anything is compiled well, so each line takes one match and few calls.
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
} from "../../config/node.ts";
import { plainScalar } from "../../config/yaml/scalars.ts";
import { readBlockText } from "./plain-yaml-block.ts";

/** Characters that have no special meaning at the level of the stream: no tabs, carriage returns, marks or controls. */
const UNUSUAL = /[^\n\x20-\x7e\xa1-\u2027\u202a-\ud7ff]/;
/** Indentation, dashes, then a key with or without value, a value alone, or nothing. */
const LINE = /( *)((?:- +)*)(?:([A-Za-z_][\w-]*):(?: +([^ \n].*))?|([^ \n].*))? *(?:\n|$)/y;
/** What a value that means itself begins with; indicators of YAML are not among it. */
const PLAIN_START = /^(?:[A-Za-z_0-9/.(\u00a1-\ud7ff]|-[\d.])/;
/** What looks like a key in a value, or like a comment behind it. */
const ODD_PART = /: | #|:$/;
const QUOTED_VALUE = /^(?:'([^']*)'|"([^"\\]*)")$/;
/** A list of words or numbers in one line. */
const WORD_LIST =
  /^\[ *((?:[A-Za-z_][\w./-]*|-?\d+(?:\.\d+)?)(?: *, *(?:[A-Za-z_][\w./-]*|-?\d+(?:\.\d+)?))*) *\]$/;
/** Deeper files are left to the full reader, which has a limit of its own. */
const MAX_OPEN = 100;

/** Where the reader stands. */
interface Nesting {
  readonly origin: Origin;
  /** The mappings and lists that may still grow, outermost first, and their columns. */
  readonly open: (DictNode | ListNode)[];
  readonly columns: number[];
  /** The mapping or list whose next value has not come yet, with its key and the column of key or dash. */
  waiting: DictNode | ListNode | undefined;
  key: string;
  column: number;
}

/** The config, or undefined when the text is not plain enough to be sure. Mistakes are left to the full reader too. */
export function readPlainYaml(text: string, source: Source): DictNode | undefined {
  if (UNUSUAL.test(text)) return undefined;
  const origin = { source, line: 0, column: 0 };
  const root = dict(origin);
  const nesting: Nesting = { origin, open: [root], columns: [0], waiting: undefined, key: "", column: 0 };
  for (let next = 0; next < text.length; ) {
    LINE.lastIndex = next;
    const match = LINE.exec(text);
    if (match === null) return undefined;
    next = LINE.lastIndex;
    const key = match[3];
    const written = (key === undefined ? match[5] : match[4])?.trimEnd();
    const dashes = match[2] ?? "";
    let column = match[1]?.length ?? 0;
    if (key === undefined && dashes === "" && (written === undefined || written.startsWith("#"))) continue;
    if (dashes !== "") {
      column = enterItems(nesting, column, dashes);
      if (column < 0) return undefined;
    }
    if (key !== undefined) {
      if (!enterKey(nesting, column, key)) return undefined;
      if (written === undefined) continue;
      if (written === "|" || written === "|-") {
        const block = readBlockText(text, next, column, written === "|");
        if (block === undefined) return undefined;
        put(nesting, scalar(block.text, origin));
        next = block.end;
        continue;
      }
    } else if (column <= nesting.column || nesting.waiting?.kind !== "list") {
      // A value alone can only be that of a dash; below a key it may go on in the next line.
      return undefined;
    }
    const value = readValue(written ?? "", origin);
    if (value === undefined) return undefined;
    put(nesting, value);
  }
  if (nesting.waiting !== undefined) put(nesting, scalar(null, origin));
  return root;
}

/** Opens a list item for every dash; gives the column behind them, or -1. */
function enterItems(nesting: Nesting, start: number, dashes: string): number {
  for (let dash = 0; dash >= 0; dash = dashes.indexOf("-", dash + 1)) {
    const node = enter(nesting, start + dash, "list");
    if (node === undefined) return -1;
    nesting.waiting = node;
    nesting.column = start + dash;
  }
  return start + dashes.length;
}

function enterKey(nesting: Nesting, column: number, key: string): boolean {
  const node = enter(nesting, column, "dict");
  if (node?.kind !== "dict" || node.entries.has(key) || typeof plainScalar(key) !== "string") return false;
  nesting.waiting = node;
  nesting.key = key;
  nesting.column = column;
  return true;
}

/** Makes the container at this column the innermost one, opening it below the waiting key if it is new. */
function enter(nesting: Nesting, column: number, kind: "dict" | "list"): DictNode | ListNode | undefined {
  const { open, columns, waiting } = nesting;
  if (waiting !== undefined) {
    // A list may stand at the column of its key; everything else stands deeper.
    const hangs = kind === "list" && waiting.kind === "dict" && column === nesting.column;
    if (column > nesting.column || hangs) {
      if (open.length > MAX_OPEN) return undefined;
      const node = kind === "dict" ? dict(nesting.origin) : list(nesting.origin);
      put(nesting, node);
      open.push(node);
      columns.push(column);
      return node;
    }
    put(nesting, scalar(null, nesting.origin));
  }
  for (let top = open.length - 1; top >= 0 && (columns[top] ?? 0) >= column; top--) {
    // Leaving a list that hangs at the column of its key brings back the mapping at the same column.
    if (columns[top] === column && open[top]?.kind === kind) return open[top];
    open.pop();
    columns.pop();
  }
  return undefined;
}

/** Gives the waiting key or dash its value. */
function put(nesting: Nesting, node: ConfigNode): void {
  const { waiting } = nesting;
  if (waiting?.kind === "dict") waiting.entries.set(nesting.key, node);
  else waiting?.items.push(node);
  nesting.waiting = undefined;
}

function readValue(text: string, origin: Origin): ConfigNode | undefined {
  // Interpolations are checked when a config is read, which is the full reader's business.
  if (text.includes("${")) return undefined;
  if (PLAIN_START.test(text)) return ODD_PART.test(text) ? undefined : scalar(plainScalar(text), origin);
  if (text === "[]") return list(origin);
  if (text === "{}") return dict(origin);
  if (text === MISSING) return scalar(MISSING, origin);
  const quoted = QUOTED_VALUE.exec(text);
  if (quoted !== null) return scalar(quoted[1] ?? quoted[2] ?? "", origin);
  const words = WORD_LIST.exec(text)?.[1]?.split(/ *, */);
  return words === undefined
    ? undefined
    : list(
        origin,
        words.map((word) => scalar(plainScalar(word), origin)),
      );
}
