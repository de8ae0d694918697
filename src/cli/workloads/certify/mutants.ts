import { isNode, type SyntaxNode, walk } from "./syntax.ts";

/** One fault: a part of a source file and what replaces it. */
export interface Mutant {
  /** The file, relative to the folder of the server. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  /** The kind of fault. */
  readonly operator: string;
  readonly from: string;
  readonly to: string;
}

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "==": ["!="],
  "!=": ["=="],
  "<": ["<=", ">"],
  ">": [">=", "<"],
  "<=": ["<", ">"],
  ">=": [">", "<"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
};
const METHODS: Readonly<Record<string, string>> = {
  every: "some",
  some: "every",
  startsWith: "endsWith",
  endsWith: "startsWith",
  toLowerCase: "toUpperCase",
  toUpperCase: "toLowerCase",
  min: "max",
  max: "min",
  indexOf: "lastIndexOf",
  lastIndexOf: "indexOf",
  floor: "ceil",
  ceil: "floor",
  trimStart: "trimEnd",
  trimEnd: "trimStart",
};
/** Calls that a fault may leave out: `x.trim()` becomes `x`. */
const OMITTED = new Set([
  "trim",
  "filter",
  "sort",
  "toSorted",
  "reverse",
  "toReversed",
  "slice",
  "replace",
  "replaceAll",
]);
/** Methods whose texts decide. Other texts are mostly messages. */
const TEXT_METHODS = new Set([
  "includes",
  "startsWith",
  "endsWith",
  "split",
  "replace",
  "replaceAll",
  "indexOf",
  "join",
]);
/** Options of a definition that do not take part in the reward. */
const ASIDE = new Set([
  "metrics",
  "keyMetrics",
  "description",
  "summary",
  "message",
  "error",
  "config",
  "tools",
]);
const UNSEEN = /^(?:TS|Import|ExportAllDeclaration|ThrowStatement|Decorator|Directive|ClassImplements)/;

interface Found {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

/** All faults that can be put into a file. */
export function findMutants(file: string, source: string, tree: SyntaxNode): Mutant[] {
  const found: Found[] = [];
  walk(tree, (node, parents) => {
    if (
      UNSEEN.test(node.type) &&
      node.type !== "TSAsExpression" &&
      node.type !== "TSSatisfiesExpression" &&
      node.type !== "TSNonNullExpression"
    )
      return false;
    const { key } = node as { key?: { name?: string } };
    if (/^Object(?:Property|Method)$/.test(node.type) && ASIDE.has(key?.name ?? "")) return false;
    found.push(...faultsOf(node, parents, source));
    return true;
  });
  const starts = lineStarts(source);
  const seen = new Set<string>();
  return found.flatMap(({ operator, start, end, to }) => {
    const from = source.slice(start, end);
    const key = `${start} ${end} ${to}`;
    if (from === to || seen.has(key)) return [];
    seen.add(key);
    return [{ file, line: lineAt(starts, start), start, end, operator, from, to }];
  });
}

function lineStarts(source: string): number[] {
  return [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function lineAt(starts: readonly number[], offset: number): number {
  return starts.findLastIndex((start) => start <= offset) + 1;
}

function faultsOf(node: SyntaxNode, parents: readonly SyntaxNode[], source: string): Found[] {
  const text = (part: SyntaxNode) => source.slice(part.start, part.end);
  const whole = (operator: string, to: string): Found => ({ operator, start: node.start, end: node.end, to });
  const parent = parents.at(-1);
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      return binaryFaults(node, source);
    case "UnaryExpression":
      if (node["operator"] === "!") return [whole("negation", text(node["argument"] as SyntaxNode))];
      return [];
    case "IfStatement":
    case "ConditionalExpression": {
      const { start, end } = node["test"] as SyntaxNode;
      return ["true", "false"].map((to) => ({ operator: "condition", start, end, to }));
    }
    case "NumericLiteral": {
      if (parent?.type === "ObjectProperty" && parent["key"] === node) return [];
      const value = node["value"] as number;
      return [whole("constant", value === 1 ? "0" : String(value + 1))];
    }
    case "BooleanLiteral":
      return [whole("constant", String(node["value"] !== true))];
    case "StringLiteral":
      return decides(node, parents) ? [whole("constant", node["value"] === "" ? '"x"' : '""')] : [];
    case "RegExpLiteral":
      return regexFaults(node, source);
    case "CallExpression":
      return callFaults(node, source);
    case "ExpressionStatement": {
      const { type } = node["expression"] as SyntaxNode;
      const inFunction = parents.some((each) => /Function|Method/.test(each.type));
      if (!inFunction || !/^(?:CallExpression|AssignmentExpression|AwaitExpression)$/.test(type)) return [];
      return [whole("statement left out", ";")];
    }
    case "ReturnStatement": {
      const argument = node["argument"];
      if (!isNode(argument) || !/^(?:Binary|Logical)Expression$/.test(argument.type)) return [];
      return ["true", "false"].map((to) => whole("early return", `return ${to};`));
    }
    default:
      return [];
  }
}

function binaryFaults(node: SyntaxNode, source: string): Found[] {
  const { operator, left, right } = node as unknown as {
    operator: string;
    left: SyntaxNode;
    right: SyntaxNode;
  };
  const others = { "&&": ["||"], "||": ["&&"], "+": sumFaults(left, right), ...COMPARISONS }[operator] ?? [];
  const start = source.indexOf(operator, left.end);
  if (start === -1 || start >= right.start) return [];
  const faults = others.map((to) => ({ operator: "operator", start, end: start + operator.length, to }));
  // Mixing `??` with another operator needs parentheses.
  if (faults.length > 0 && /^(?:&&|\|\|)$/.test(operator)) {
    const inside = (part: SyntaxNode) => source.slice(part.start, part.end);
    return [
      {
        operator: "operator",
        start: node.start,
        end: node.end,
        to: `((${inside(left)}) ${others[0]} (${inside(right)}))`,
      },
    ];
  }
  return faults;
}

function sumFaults(left: SyntaxNode, right: SyntaxNode): string[] {
  return [left, right].some(({ type }) => /^(?:StringLiteral|TemplateLiteral)$/.test(type)) ? [] : ["-"];
}

/** Whether a text is compared with another. */
function decides(node: SyntaxNode, parents: readonly SyntaxNode[]): boolean {
  const parent = parents.at(-1);
  if (parent === undefined) return false;
  if (parent.type === "SwitchCase") return true;
  if (parent.type === "BinaryExpression")
    return /^[!=]==?$/.test(String(parent["operator"])) && !isTypeof(parent);
  if (parent.type !== "CallExpression" || !(parent["arguments"] as SyntaxNode[]).includes(node)) return false;
  return TEXT_METHODS.has(methodOf(parent)?.name ?? "");
}

function isTypeof(node: SyntaxNode): boolean {
  const { left } = node as unknown as { left: SyntaxNode };
  return left.type === "UnaryExpression" && left["operator"] === "typeof";
}

function methodOf(
  call: SyntaxNode,
): { name: string; start: number; end: number; object: SyntaxNode } | undefined {
  const callee = call["callee"] as SyntaxNode;
  if (!/^(?:Optional)?MemberExpression$/.test(callee.type) || callee["computed"] === true) return undefined;
  const { name, start, end } = callee["property"] as SyntaxNode & { name: string };
  return { name, start, end, object: callee["object"] as SyntaxNode };
}

function callFaults(node: SyntaxNode, source: string): Found[] {
  const method = methodOf(node);
  if (method === undefined) return [];
  const { name, start, end, object } = method;
  const faults: Found[] = [];
  const other = METHODS[name];
  if (other !== undefined) faults.push({ operator: "method", start, end, to: other });
  if (OMITTED.has(name))
    faults.push({
      operator: "call left out",
      start: node.start,
      end: node.end,
      to: source.slice(object.start, object.end),
    });
  return faults;
}

/** Parts of a pattern and what replaces them. */
const PATTERN_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^\^/g, ""],
  [/\$$/g, ""],
  [/(?<!\\)\\d/g, "\\D"],
  [/(?<!\\)\\s/g, "\\S"],
  [/(?<!\\)\\w/g, "\\W"],
  [/(?<!\\)\\b/g, ""],
  [/(?<!\\)\[\^/g, "["],
  [/(?<=[^\\+*?(|])\+(?!\?)/g, ""],
  [/(?<=[^\\+*?(|])\*(?!\?)/g, "+"],
  [/(?<=[^\\+*?(|])[+*]\?/g, ""],
];

function regexFaults(node: SyntaxNode, source: string): Found[] {
  const { pattern, flags } = node as unknown as { pattern: string; flags: string };
  const base = node.start + 1;
  const faults: Found[] = [];
  for (const [part, to] of PATTERN_FAULTS)
    for (const match of pattern.matchAll(part)) {
      const changed = pattern.slice(0, match.index) + to + pattern.slice(match.index + match[0].length);
      if (!isPattern(changed, flags)) continue;
      faults.push({
        operator: "pattern",
        start: base + match.index,
        end: base + match.index + match[0].length,
        to,
      });
    }
  const flagsAt = node.start + source.slice(node.start, node.end).lastIndexOf("/") + 1;
  for (const flag of flags.replaceAll(/[gyuv]/g, ""))
    faults.push({ operator: "pattern", start: flagsAt, end: node.end, to: flags.replace(flag, "") });
  return faults;
}

function isPattern(pattern: string, flags: string): boolean {
  try {
    return pattern !== "" && new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Calls that count the turns of loops, so that a fault cannot make one endless. */
export function loopCounters(tree: SyntaxNode): { at: number; text: string }[] {
  const inserts: { at: number; text: string }[] = [];
  walk(tree, (node) => {
    if (!/^(?:For|While|DoWhile)\w*Statement$/.test(node.type)) return true;
    const body = node["body"] as SyntaxNode;
    if (body.type === "BlockStatement") inserts.push({ at: body.start + 1, text: "__turn();" });
    else inserts.push({ at: body.start, text: "{__turn();" }, { at: body.end, text: "}" });
    return true;
  });
  return inserts;
}
