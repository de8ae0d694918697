import type { Jiti } from "jiti";

/** A node of a syntax tree, with its place in the source. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Parses TypeScript with the parser of the loader, before types and modules are rewritten. */
export function parseTypeScript(loader: Jiti, source: string, filename: string): SyntaxNode {
  let tree: SyntaxNode | undefined;
  const plugin = () => ({
    pre({ ast }: { ast: { program: SyntaxNode } }) {
      // The transformations that follow change the tree.
      tree = structuredClone(plain(ast.program)) as SyntaxNode;
    },
    visitor: {},
  });
  const code = loader.transform({ source, filename, ts: true, babel: { plugins: [plugin] } });
  if (tree === undefined) throw new Error(`${filename} cannot be parsed: ${code.slice(0, 300)}`);
  return tree;
}

/** The tree without positions by line, comments and what else is not syntax. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof RegExp || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !SKIPPED.has(key))
      .map(([key, member]) => [key, plain(member)]),
  );
}

const SKIPPED = new Set([
  "loc",
  "leadingComments",
  "trailingComments",
  "innerComments",
  "extra",
  "typeAnnotation",
  "typeParameters",
  "typeArguments",
  "returnType",
]);

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as SyntaxNode).type === "string";
}

/** Visits a node and what is below it. Nothing below a node is visited if `enter` returns false. */
export function walk(
  node: SyntaxNode,
  enter: (node: SyntaxNode, parents: readonly SyntaxNode[]) => boolean,
  parents: readonly SyntaxNode[] = [],
): void {
  if (!enter(node, parents)) return;
  const inner = [...parents, node];
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, enter, inner);
}
