import { determinant } from "../expression/matrix.ts";
import { integerNode, inverse, type Node, type SymbolNode, symbol } from "../expression/node.ts";
import { quotient } from "./build-node.ts";
import type { TokenReader } from "./tokens.ts";

const MATRICES: ReadonlySet<string> = new Set(["matrix", "pmatrix", "bmatrix", "vmatrix", "array"]);

export interface Reading {
  /** Whether symbols are real numbers. */
  readonly real: boolean;
  /** Whether degrees and number bases are kept. math-verify drops them. */
  readonly strict: boolean;
}

/** Parses fractions, derivatives, sums, integrals, limits and matrices. */
export abstract class CompoundParser {
  readonly reader: TokenReader;
  readonly real: boolean;
  readonly strict: boolean;
  /** True while the integrand is parsed, which a differential ends. */
  insideIntegral = false;
  insideBars = false;
  #differential: SymbolNode | undefined;

  constructor(reader: TokenReader, { real, strict }: Reading) {
    this.reader = reader;
    this.real = real;
    this.strict = strict;
  }

  abstract additive(): Node;
  abstract multiplicative(noFunctions?: boolean): Node;
  abstract fraction(top: Node): Node;
  abstract postfix(): Node;
  abstract exponent(): Node | undefined;
  abstract simple(): Node;

  /** An expression between delimiters. */
  group(open: string, close: string): Node {
    this.reader.expect(open);
    const node = this.outsideBars(() => this.fraction(this.additive()));
    this.reader.expect(close);
    return node;
  }

  braced(): Node {
    return this.group("{", "}");
  }

  outsideBars(read: () => Node): Node {
    const before = this.insideBars;
    this.insideBars = false;
    try {
      return read();
    } finally {
      this.insideBars = before;
    }
  }

  frac(): Node {
    const { reader } = this;
    const derivative = reader.attempt(() => this.#derivative());
    if (derivative) return derivative;
    reader.expect("{");
    let top: Node;
    const differential = this.insideIntegral ? reader.attempt(() => this.#readDifferential()) : undefined;
    if (differential) {
      this.#differential = differential;
      top = integerNode(1);
    } else {
      top = this.outsideBars(() => this.fraction(this.additive()));
      if (this.insideIntegral)
        this.#differential = reader.attempt(() => this.#readDifferential()) ?? this.#differential;
    }
    reader.expect("}");
    const bottom = this.braced();
    return differential ? inverse(bottom) : quotient(top, bottom);
  }

  /** `\frac{d}{dx}` before an expression, or `\frac{dy}{dx}`. */
  #derivative(): Node {
    const { reader } = this;
    reader.expect("{");
    const partial = reader.isCommand("partial");
    let body: Node | undefined;
    if (partial || reader.token.text === "d") {
      reader.next();
      if (!reader.isOperator("}")) body = this.postfix();
    } else body = this.#readDifferential();
    reader.expect("}");
    reader.expect("{");
    if (partial) reader.next();
    const variable = partial ? this.#variable() : this.#readDifferential();
    reader.expect("}");
    return { kind: "bound", operator: "derivative", body: body ?? this.multiplicative(), variable };
  }

  /** `dx`, also `d x`. */
  #readDifferential(): SymbolNode {
    const { reader } = this;
    const { kind, text } = reader.token;
    if (kind !== "letter" || text[0] !== "d") throw reader.unexpected("expected a differential");
    reader.next();
    if (text.length < 2) return this.#variable();
    return symbol(this.strict ? text.slice(1) : text.slice(1).toLowerCase(), this.real);
  }

  #variable(): SymbolNode {
    const node = this.simple();
    if (node.kind !== "symbol") throw this.reader.unexpected("expected a symbol");
    return node;
  }

  series(operator: "sum" | "product"): Node {
    const { reader } = this;
    let variable: SymbolNode | undefined;
    let from: Node | undefined;
    let to: Node | undefined;
    while (reader.isOperator("_", "^")) {
      if (reader.next().text === "^") to = this.exponent();
      else {
        reader.expect("{");
        variable = this.#variable();
        reader.expect("=");
        from = this.additive();
        reader.expect("}");
      }
    }
    if (!variable || !from || !to) throw reader.unexpected("a sum needs its limits");
    return { kind: "bound", operator, variable, from, to, body: this.multiplicative() };
  }

  integral(): Node {
    const { reader } = this;
    let from: Node | undefined;
    let to: Node | undefined;
    while (reader.isOperator("_", "^")) {
      const upper = reader.next().text === "^";
      const limit = reader.isOperator("{") ? this.braced() : this.simple();
      if (upper) to = limit;
      else from = limit;
    }
    const [outside, outer] = [this.insideIntegral, this.#differential];
    this.insideIntegral = true;
    this.#differential = undefined;
    const body =
      reader.token.text[0] === "d" && reader.token.text.length === 2 ? integerNode(1) : this.additive();
    const variable =
      this.#differential ?? reader.attempt(() => this.#readDifferential()) ?? symbol("x", this.real);
    this.insideIntegral = outside;
    this.#differential = outer;
    return { kind: "bound", operator: "integral", body, variable, from, to };
  }

  limit(): Node {
    const { reader } = this;
    reader.expect("_");
    reader.expect("{");
    const variable = this.#variable();
    if (!reader.isCommand("to", "rightarrow")) throw reader.unexpected("expected \\to");
    reader.next();
    const from = this.additive();
    reader.expect("}");
    return { kind: "bound", operator: "limit", variable, from, body: this.multiplicative() };
  }

  environment(name: string): Node {
    const { reader } = this;
    if (!MATRICES.has(name)) throw reader.unexpected(`the environment ${name} has no meaning here`);
    if (name === "array") {
      reader.expect("{");
      while (!reader.take("}")) if (reader.next().kind === "end") throw reader.unexpected();
    }
    const rows: Node[][] = [];
    while (!this.#atEnd()) {
      const row = [this.additive()];
      while (reader.take("&")) row.push(this.additive());
      rows.push(row);
      if (!reader.take("\\\\")) break;
    }
    if (!this.#atEnd() || reader.token.text !== name) throw reader.unexpected(`expected \\end{${name}}`);
    reader.next();
    if (rows.some((row) => row.length !== rows[0]?.length))
      throw reader.unexpected("rows of different lengths");
    const matrix: Node = { kind: "matrix", rows };
    return name === "vmatrix" ? this.determinant(matrix) : matrix;
  }

  determinant(matrix: Node): Node {
    const value = matrix.kind === "matrix" ? determinant(matrix.rows) : undefined;
    if (value === undefined) throw this.reader.unexpected("the determinant of a square matrix is expected");
    return value;
  }

  #atEnd(): boolean {
    return this.reader.token.kind === "named" && this.reader.token.command === "end";
  }
}
