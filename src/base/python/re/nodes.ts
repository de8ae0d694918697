import { charTest } from "./characters.ts";

/** Tests whether a set contains a code point. */
export type CodePointTest = (codePoint: number) => boolean;

export type AssertionKind =
  | "text-start"
  | "line-start"
  | "text-end"
  | "text-end-or-last-newline"
  | "line-end"
  | "word-boundary"
  | "not-word-boundary";

/** A node of a parsed pattern. */
export type PatternNode =
  | { type: "empty" }
  | { type: "char"; codePoint: number; ignoreCase: boolean }
  | { type: "set"; test: CodePointTest }
  | { type: "assertion"; kind: AssertionKind; ascii: boolean }
  | { type: "sequence"; items: PatternNode[] }
  | { type: "choice"; items: PatternNode[] }
  | { type: "group"; index: number; body: PatternNode }
  | { type: "backreference"; index: number; ignoreCase: boolean }
  | { type: "repeat"; body: PatternNode; min: number; max: number; mode: "greedy" | "lazy" | "possessive" }
  | { type: "atomic"; body: PatternNode }
  | { type: "look"; ahead: boolean; negative: boolean; body: PatternNode }
  | { type: "conditional"; index: number; yes: PatternNode; no: PatternNode };

export interface ParsedPattern {
  root: PatternNode;
  /** Number of capture groups. */
  groups: number;
  names: Map<string, number>;
}

/** The minimum and maximum number of code points that a node consumes. */
export function widthOf(
  node: PatternNode,
  groupWidths: ReadonlyMap<number, readonly [number, number]>,
): [number, number] {
  switch (node.type) {
    case "empty":
    case "assertion":
    case "look":
      return [0, 0];
    case "char":
    case "set":
      return [1, 1];
    case "sequence": {
      let [low, high] = [0, 0];
      for (const item of node.items) {
        const width = widthOf(item, groupWidths);
        low += width[0];
        high += width[1];
      }
      return [low, high];
    }
    case "choice": {
      const widths = node.items.map((item) => widthOf(item, groupWidths));
      return [Math.min(...widths.map(([low]) => low)), Math.max(...widths.map(([, high]) => high))];
    }
    case "group":
    case "atomic":
      return widthOf(node.body, groupWidths);
    case "repeat": {
      const [low, high] = widthOf(node.body, groupWidths);
      return [low * node.min, high === 0 ? 0 : high * node.max];
    }
    case "backreference": {
      const [low, high] = groupWidths.get(node.index) ?? [0, Number.POSITIVE_INFINITY];
      return [low, high];
    }
    case "conditional": {
      const yes = widthOf(node.yes, groupWidths);
      const no = widthOf(node.no, groupWidths);
      return [Math.min(yes[0], no[0]), Math.max(yes[1], no[1])];
    }
  }
}

interface First {
  /** The test for the first character; undefined if it is unknown. */
  test: CodePointTest | undefined;
  /** Whether the node can match without consuming anything. */
  nullable: boolean;
}

const unknown: First = { test: undefined, nullable: true };

/** The possible first characters of a match of `node`. */
export function firstOf(node: PatternNode): First {
  switch (node.type) {
    case "char":
      return { test: charTest(node), nullable: false };
    case "set":
      return { test: node.test, nullable: false };
    case "group":
    case "atomic":
      return firstOf(node.body);
    case "repeat":
      return node.min > 0 ? firstOf(node.body) : { test: firstOf(node.body).test, nullable: true };
    case "sequence":
      return firstOfSequence(node.items);
    case "choice":
      return node.items.map(firstOf).reduce(either);
    default:
      return unknown;
  }
}

/** Skips assertions: they consume nothing and only exclude matches. */
function firstOfSequence(items: readonly PatternNode[]): First {
  const tests: CodePointTest[] = [];
  for (const item of items) {
    if (item.type === "assertion" || item.type === "look" || item.type === "empty") continue;
    const first = firstOf(item);
    if (first.test === undefined) return unknown;
    tests.push(first.test);
    if (!first.nullable && widthOf(item, new Map())[0] > 0) return { test: anyOf(tests), nullable: false };
  }
  return unknown;
}

function either(left: First, right: First): First {
  if (left.test === undefined || right.test === undefined || left.nullable || right.nullable) return unknown;
  return { test: anyOf([left.test, right.test]), nullable: false };
}

function anyOf(tests: readonly CodePointTest[]): CodePointTest | undefined {
  return tests.length === 1 ? tests[0] : (codePoint) => tests.some((test) => test(codePoint));
}

/** The literal text at the start of every match. */
export function prefixOf(node: PatternNode): string {
  const items = node.type === "sequence" ? node.items : [node];
  let prefix = "";
  for (const item of items) {
    if (item.type !== "char" || item.ignoreCase) break;
    prefix += String.fromCodePoint(item.codePoint);
  }
  return prefix;
}
