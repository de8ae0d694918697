import { rstrip } from "nemo-gym/python";
import { negate, ONE, parseRational, type Rational } from "./rational.ts";

export type Expression =
  | { kind: "number"; value: Rational; float: boolean }
  | { kind: "symbol"; name: string }
  | { kind: "sum" | "product"; left: Expression; right: Expression }
  | { kind: "quotient"; left: Expression; right: Expression }
  | { kind: "power"; base: Expression; exponent: Expression }
  | { kind: "call"; name: string; argument: Expression }
  /** An unevaluated antiderivative: `Integral(f, x)`. */
  | { kind: "integral"; integrand: Expression; variable: string };

/** The text is not an arithmetic expression in Python's notation. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

const MAX_LENGTH = 5000;
const MAX_DEPTH = 200;
const TOKEN =
  /[ \t\f\r\n]*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([\p{XIDS}_]\p{XIDC}*)|(\*\*|[-+*/()!,]))/uy;

type Token = { kind: "number" | "name" | "operator"; text: string };

/** Reads `2*x**2 - exp(x)/3 + C`: numbers, names, `+ - * / **`, parentheses, calls with one argument and `!`. */
export function parseExpression(text: string): Expression {
  const parser = new ExpressionParser(tokenize(text));
  const expression = parser.sum(0);
  parser.expectEnd();
  return expression;
}

function tokenize(text: string): Token[] {
  if (text.length > MAX_LENGTH) throw new ExpressionError("too long");
  const trimmed = rstrip(text, " \t\f\r\n");
  const tokens: Token[] = [];
  let open = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const [matched = "", number, name, operator] = TOKEN.exec(trimmed) ?? [];
    // A line break ends an expression unless a parenthesis is open.
    if (open === 0 && tokens.length > 0 && matched.includes("\n"))
      throw new ExpressionError("more than one line");
    if (operator === "(") open++;
    else if (operator === ")") open--;
    if (number !== undefined && /^0+[1-9]\d*$/.test(number))
      throw new ExpressionError("an integer with leading zeros");
    if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else if (operator !== undefined) tokens.push({ kind: "operator", text: operator });
    else throw new ExpressionError("unexpected character");
  }
  return tokens;
}

class ExpressionParser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  expectEnd(): void {
    if (this.#position < this.#tokens.length)
      throw new ExpressionError("unexpected text after the expression");
  }

  #take(...operators: string[]): string | undefined {
    const token = this.#tokens[this.#position];
    if (token?.kind !== "operator" || !operators.includes(token.text)) return undefined;
    this.#position++;
    return token.text;
  }

  sum(depth: number): Expression {
    if (depth > MAX_DEPTH) throw new ExpressionError("nested too deeply");
    let left = this.#product(depth);
    for (let sign = this.#take("+", "-"); sign !== undefined; sign = this.#take("+", "-")) {
      const right = this.#product(depth);
      left = { kind: "sum", left, right: sign === "+" ? right : negated(right) };
    }
    return left;
  }

  #product(depth: number): Expression {
    let left = this.#signed(depth);
    for (let sign = this.#take("*", "/"); sign !== undefined; sign = this.#take("*", "/")) {
      left = { kind: sign === "*" ? "product" : "quotient", left, right: this.#signed(depth) };
    }
    return left;
  }

  /** A sign has lower precedence than a power: -x**2 is -(x**2). */
  #signed(depth: number): Expression {
    if (depth > MAX_DEPTH) throw new ExpressionError("nested too deeply");
    const sign = this.#take("+", "-");
    if (sign === "-") return negated(this.#signed(depth + 1));
    return sign === "+" ? this.#signed(depth + 1) : this.#power(depth);
  }

  #power(depth: number): Expression {
    const base = this.#factorial(depth);
    if (this.#take("**") === undefined) return base;
    return { kind: "power", base, exponent: this.#signed(depth + 1) };
  }

  #factorial(depth: number): Expression {
    let value = this.#atom(depth);
    while (this.#take("!") !== undefined) value = { kind: "call", name: "factorial", argument: value };
    return value;
  }

  #atom(depth: number): Expression {
    const token = this.#tokens[this.#position++];
    if (token?.kind === "number") {
      return { kind: "number", value: parseRational(token.text), float: /[.eE]/.test(token.text) };
    }
    if (token?.kind === "name") {
      if (this.#take("(") === undefined) return { kind: "symbol", name: token.text };
      if (token.text === "Integral") return this.#integral(depth);
      return { kind: "call", name: token.text, argument: this.#closed(depth) };
    }
    if (token?.text === "(") return this.#closed(depth);
    throw new ExpressionError("expected a value");
  }

  #integral(depth: number): Expression {
    const integrand = this.sum(depth + 1);
    const comma = this.#take(",");
    const variable = this.#tokens[this.#position++];
    if (comma === undefined || variable?.kind !== "name" || this.#take(")") === undefined) {
      throw new ExpressionError("not an indefinite integral");
    }
    return { kind: "integral", integrand, variable: variable.text };
  }

  #closed(depth: number): Expression {
    const inner = this.sum(depth + 1);
    if (this.#take(")") === undefined) throw new ExpressionError("expected a closing parenthesis");
    return inner;
  }
}

function negated(expression: Expression): Expression {
  if (expression.kind === "number") return { ...expression, value: negate(expression.value) };
  return { kind: "product", left: { kind: "number", value: negate(ONE), float: false }, right: expression };
}
