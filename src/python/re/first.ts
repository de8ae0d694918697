import { charTest } from "./characters.ts";
import { type CodePointTest, type Node, widthOf } from "./nodes.ts";

interface First {
  /** The test for the first character; undefined if it is unknown. */
  test: CodePointTest | undefined;
  /** Whether the node can match without consuming anything. */
  nullable: boolean;
}

const unknown: First = { test: undefined, nullable: true };

/** The possible first characters of a match of `node`. */
export function firstOf(node: Node): First {
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
function firstOfSequence(items: readonly Node[]): First {
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
export function prefixOf(node: Node): string {
  const items = node.type === "sequence" ? node.items : [node];
  let prefix = "";
  for (const item of items) {
    if (item.type !== "char" || item.ignoreCase) break;
    prefix += String.fromCodePoint(item.codePoint);
  }
  return prefix;
}
