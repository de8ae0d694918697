import { spend } from "../budget.ts";
import { exactValue } from "../numbers/exact.ts";
import { integerNode, type Node, negated, productOf, sumOf } from "./node.ts";

type Rows = readonly (readonly Node[])[];
type Matrix = Extract<Node, { kind: "matrix" }>;

const MAX_SIZE = 6;

export function transposed({ rows }: Matrix): Matrix {
  return { kind: "matrix", rows: (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] as Node)) };
}

/** Laplace expansion along the first row. Undefined if the matrix is not square or too large. */
export function determinant(rows: Rows): Node | undefined {
  spend();
  const [first = []] = rows;
  if (rows.length !== first.length || rows.length > MAX_SIZE) return undefined;
  if (rows.length === 1) return first[0];
  const terms: Node[] = [];
  for (const [column, entry] of first.entries()) {
    const minor = determinant(rows.slice(1).map((row) => row.toSpliced(column, 1)));
    if (minor === undefined) return undefined;
    const term = productOf([entry, minor]);
    terms.push(column % 2 === 0 ? term : negated(term));
  }
  return sumOf(terms);
}

/** Computes the sums, products and powers of an expression with matrices. Undefined if shapes do not match. */
export function matrixValue(node: Node): Node | undefined {
  spend();
  switch (node.kind) {
    case "add":
    case "multiply": {
      const combine = node.kind === "add" ? add : multiply;
      const parts = node.args.map((arg) => matrixValue(arg));
      return parts.reduce((left, right) => left && right && combine(left, right));
    }
    case "power": {
      const base = matrixValue(node.base);
      return base?.kind === "matrix" ? power(base, node.exponent) : node;
    }
    default:
      return node;
  }
}

function add(left: Node, right: Node): Node | undefined {
  if (left.kind !== "matrix" && right.kind !== "matrix") return sumOf([left, right]);
  if (left.kind !== "matrix" || right.kind !== "matrix" || !sameShape(left, right)) return undefined;
  return {
    kind: "matrix",
    rows: left.rows.map((row, i) => row.map((entry, j) => sumOf([entry, right.rows[i]?.[j] as Node]))),
  };
}

function multiply(left: Node, right: Node): Node | undefined {
  if (left.kind !== "matrix" && right.kind !== "matrix") return productOf([left, right]);
  if (left.kind !== "matrix") return scaled(right as Matrix, left);
  if (right.kind !== "matrix") return scaled(left, right);
  if (left.rows[0]?.length !== right.rows.length) return undefined;
  spend(left.rows.length * right.rows.length * (right.rows[0]?.length ?? 1) * 4);
  const columns = transposed(right).rows;
  return {
    kind: "matrix",
    rows: left.rows.map((row) =>
      columns.map((column) => sumOf(row.map((entry, k) => productOf([entry, column[k] as Node])))),
    ),
  };
}

function scaled({ rows }: Matrix, factor: Node): Matrix {
  return { kind: "matrix", rows: rows.map((row) => row.map((entry) => productOf([factor, entry]))) };
}

export function sameShape(left: Matrix, right: Matrix): boolean {
  return left.rows.length === right.rows.length && left.rows[0]?.length === right.rows[0]?.length;
}

function power(base: Matrix, exponent: Node): Node | undefined {
  const value = exactValue(exponent);
  if (value?.d !== 1n || value.n > 16n || value.n < -16n) return undefined;
  const start = value.n < 0n ? inverse(base) : base;
  const count = Number(value.n < 0n ? -value.n : value.n);
  let result: Node | undefined = identity(base.rows.length);
  for (let index = 0; index < count; index++) result = result && start && multiply(result, start);
  return result;
}

function identity(size: number): Matrix {
  return {
    kind: "matrix",
    rows: Array.from({ length: size }, (_, i) =>
      Array.from({ length: size }, (__, j) => integerNode(i === j ? 1 : 0)),
    ),
  };
}

/** Inverts a small matrix by its adjugate. */
function inverse({ rows }: Matrix): Matrix | undefined {
  const whole = determinant(rows);
  if (whole === undefined || rows.length > 4) return undefined;
  const entries = rows.map((row, i) =>
    row.map((_, j) => {
      if (rows.length === 1) return integerNode(1);
      const minor = determinant(rows.toSpliced(j, 1).map((other) => other.toSpliced(i, 1))) as Node;
      return (i + j) % 2 === 0 ? minor : negated(minor);
    }),
  );
  const factor: Node = { kind: "power", base: whole, exponent: integerNode(-1) };
  return scaled({ kind: "matrix", rows: entries }, factor);
}
