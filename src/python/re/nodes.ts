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
export type Node =
  | { type: "empty" }
  | { type: "char"; codePoint: number; ignoreCase: boolean }
  | { type: "set"; test: CodePointTest }
  | { type: "assertion"; kind: AssertionKind; ascii: boolean }
  | { type: "sequence"; items: Node[] }
  | { type: "choice"; items: Node[] }
  | { type: "group"; index: number; body: Node }
  | { type: "backreference"; index: number; ignoreCase: boolean }
  | { type: "repeat"; body: Node; min: number; max: number; mode: "greedy" | "lazy" | "possessive" }
  | { type: "atomic"; body: Node }
  | { type: "look"; ahead: boolean; negative: boolean; body: Node }
  | { type: "conditional"; index: number; yes: Node; no: Node };

export interface ParsedPattern {
  root: Node;
  /** Number of capture groups. */
  groups: number;
  names: Map<string, number>;
}

/** The minimum and maximum number of code points that a node consumes. */
export function widthOf(
  node: Node,
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
