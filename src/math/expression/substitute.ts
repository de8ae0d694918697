import { type Node, type SymbolNode, symbolKey } from "./node.ts";

/** A copy of `node` with every part replaced by what `change` gives for it, from the leaves up. */
export function rewrite(node: Node, change: (part: Node) => Node): Node {
  const each = (parts: readonly Node[]) => parts.map((part) => rewrite(part, change));
  switch (node.kind) {
    case "number":
    case "float":
    case "constant":
    case "symbol":
    case "numberSet":
      return change(node);
    case "add":
    case "multiply":
    case "call":
    case "apply":
    case "setOperation":
      return change({ ...node, args: each(node.args) });
    case "power":
      return change({ ...node, base: rewrite(node.base, change), exponent: rewrite(node.exponent, change) });
    case "percent":
    case "not":
      return change({ ...node, value: rewrite(node.value, change) });
    case "bound":
      return change({
        ...node,
        body: rewrite(node.body, change),
        from: node.from && rewrite(node.from, change),
        to: node.to && rewrite(node.to, change),
      });
    case "matrix":
      return change({ ...node, rows: node.rows.map(each) });
    case "relation":
      return change({ ...node, left: rewrite(node.left, change), right: rewrite(node.right, change) });
    case "and":
      return change({ ...node, parts: each(node.parts) });
    case "set":
    case "tuple":
      return change({ ...node, items: each(node.items) });
    case "interval":
      return change({ ...node, from: rewrite(node.from, change), to: rewrite(node.to, change) });
  }
}

/** `node` with `value` in place of a symbol. */
export function substitute(node: Node, variable: SymbolNode, value: Node): Node {
  const key = symbolKey(variable);
  return rewrite(node, (part) => (part.kind === "symbol" && symbolKey(part) === key ? value : part));
}
