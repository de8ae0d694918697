import {
  call,
  constant,
  integerNode,
  isMinusOne,
  type Node,
  powerOf,
  type SymbolNode,
  substitute,
  symbol,
} from "../expression/node.ts";
import { numberNode, quotient, withSubscript } from "./build-node.ts";
import { ACCENTS, FUNCTIONS, INVERSES, LIST_FUNCTIONS, OPERATOR_NAMES, SYMBOL_COMMANDS } from "./commands.ts";
import { CompoundParser } from "./compound-parser.ts";

const DELIMITERS: Readonly<Record<string, string>> = {
  "(": ")",
  "[": "]",
  "{": "}",
  "\\{": "\\}",
  "{(": "})",
};

/** Atoms: numbers, symbols, groups and functions. */
export abstract class FunctionParser extends CompoundParser {
  abstract letter(): Node;
  abstract subscript(): string;

  isFunction(name: string): boolean {
    return FUNCTIONS[name] !== undefined;
  }

  atom(): Node {
    const { reader } = this;
    const { token } = reader;
    switch (token.kind) {
      case "number":
        return numberNode(reader.next().text);
      case "letter":
        return this.#symbol();
      case "named":
        return this.#named();
      case "command":
        return this.#command();
      case "operator":
        return this.#operator();
      default:
        throw reader.unexpected("expected an expression");
    }
  }

  #operator(): Node {
    const { reader } = this;
    const open = reader.token.text;
    const close = DELIMITERS[open];
    if (close !== undefined) return this.group(open, close);
    if (reader.take("π")) {
      if (reader.isOperator("_")) return this.#subscripted(symbol("pi", this.real));
      return this.application("\\pi") ?? constant("pi");
    }
    if (reader.take("∞")) return constant("infinity");
    if (reader.take("|")) return this.#bars("|");
    if (reader.take("|(")) return this.#bars("|)");
    if (reader.take("⌊")) return this.#enclosed("floor", "⌋");
    if (reader.take("⌈")) return this.#enclosed("ceiling", "⌉");
    if (reader.take("∑")) return this.series("sum");
    if (reader.take("∏")) return this.series("product");
    throw reader.unexpected("expected an expression");
  }

  #enclosed(name: string, close: string): Node {
    const node = this.outsideBars(() => this.additive());
    this.reader.expect(close);
    return call(name, node);
  }

  #bars(close: string): Node {
    const before = this.insideBars;
    this.insideBars = close === "|";
    try {
      const node = this.additive();
      this.reader.expect(close);
      return call("abs", node);
    } finally {
      this.insideBars = before;
    }
  }

  /** `x^2|_{x=2}`: the expression at a value. */
  evaluationBar(node: Node): Node {
    const { reader } = this;
    reader.expect("|");
    reader.expect("_");
    reader.expect("{");
    const variable = this.letter();
    reader.expect("=");
    const value = this.additive();
    reader.expect("}");
    if (variable.kind !== "symbol") throw reader.unexpected("expected a symbol");
    return substitute(node, variable, value);
  }

  #symbol(): Node {
    const { reader } = this;
    const { text, kind } = reader.token;
    const read = this.letter();
    // `e` and `I` with a subscript are names, such as the current `I_1`.
    const isName = read.kind === "symbol" || reader.isOperator("_");
    if (!isName) return read;
    const node = read.kind === "symbol" ? read : symbol(this.strict ? text : text.toLowerCase(), this.real);
    const raw = kind === "command" ? `\\${text}` : text;
    if (!reader.isOperator("_")) return this.application(raw) ?? node;
    const subscripted = reader.attempt(() => {
      reader.next();
      const named = withSubscript(node, this.subscript());
      return this.application(raw + named.name.slice(node.name.length)) ?? named;
    });
    return subscripted ?? read;
  }

  /** `f(x)` and `f(2,y)`, with single symbols or numbers as arguments. Other parentheses are factors. */
  application(name: string): Node | undefined {
    const { reader } = this;
    if (!reader.isOperator("(", "[")) return undefined;
    return reader.attempt(() => {
      const close = DELIMITERS[reader.next().text] as string;
      const args: Node[] = [];
      do {
        const argument = this.simple();
        if (argument.kind === "float") throw reader.unexpected("expected a whole number");
        const isNamed = argument.kind === "symbol" && reader.take("_");
        args.push(isNamed ? withSubscript(argument, this.subscript()) : argument);
      } while (reader.take(","));
      reader.expect(close);
      return { kind: "apply", name, args } satisfies Node;
    });
  }

  /** Commands with a name in braces: `\text{…}`, accents and operators. */
  #named(): Node {
    const { reader } = this;
    const { command = "", text } = reader.next();
    if (command === "begin") return this.environment(text);
    if (command === "text" || command === "mbox") {
      const name = text.replace(/\s+/g, "").replace(/^\(|\)$/g, "");
      return this.application(`\\text{${text}}`) ?? this.#subscripted(symbol(name.toLowerCase(), this.real));
    }
    if (command === "operatorname") {
      const name = OPERATOR_NAMES[text.trim()];
      if (name === undefined) throw reader.unexpected("an unknown operator");
      return LIST_FUNCTIONS.has(text.trim()) ? this.#listFunction(name) : this.#functionOf(name);
    }
    const accent = ACCENTS[command];
    if (accent === undefined) throw reader.unexpected("a set or environment has no meaning here");
    return this.#subscripted(symbol(`${accent}{${text.replace(/\s+/g, "").toLowerCase()}}`, this.real));
  }

  #subscripted(node: SymbolNode): Node {
    return this.reader.take("_") ? withSubscript(node, this.subscript()) : node;
  }

  #command(): Node {
    const { reader } = this;
    const name = reader.token.text;
    if (SYMBOL_COMMANDS.has(name)) return this.#symbol();
    reader.next();
    if (LIST_FUNCTIONS.has(name)) return this.#listFunction(name);
    if (this.isFunction(name)) return this.#functionOf(FUNCTIONS[name] as string, name);
    switch (name) {
      case "frac":
        return this.frac();
      case "binom":
      case "dbinom":
      case "tbinom":
        return call("binomial", this.braced(), this.braced());
      case "sqrt":
        return this.#root();
      case "phantom":
        return this.braced();
      case "sum":
        return this.series("sum");
      case "prod":
        return this.series("product");
      case "int":
        return this.integral();
      case "lim":
        return this.limit();
      case "det":
        return this.determinant(this.postfix());
      default:
        throw reader.unexpected("expected an expression");
    }
  }

  #root(): Node {
    const { reader } = this;
    let index: Node = integerNode(2);
    if (reader.take("[")) {
      index = this.additive();
      reader.expect("]");
    }
    return powerOf(this.braced(), quotient(integerNode(1), index));
  }

  #listFunction(name: string): Node {
    const { reader } = this;
    reader.expect("(");
    const args = [this.additive()];
    while (reader.take(",")) args.push(this.additive());
    reader.expect(")");
    return call(name === "ceil" ? "ceiling" : name, ...args);
  }

  #functionOf(name: string, written = name): Node {
    const { reader } = this;
    let base: Node | undefined;
    let exponent: Node | undefined;
    while (reader.isOperator("_", "^")) {
      if (reader.next().text === "^") exponent = this.exponent();
      else base = reader.isOperator("{") ? this.braced() : this.#simplePower();
    }
    const inverseName = exponent && isMinusOne(exponent) ? INVERSES[name] : undefined;
    const argument = this.#argument();
    const args =
      name === "log" ? [argument, base ?? (written === "ln" ? constant("e") : integerNode(10))] : [argument];
    const value = call(inverseName ?? name, ...args);
    return exponent && !inverseName ? powerOf(value, exponent) : value;
  }

  /** The base of a logarithm. A power after a letter belongs to the base, after a digit to the logarithm. */
  #simplePower(): Node {
    const node = this.simple();
    if (node.kind !== "symbol" || !this.reader.take("^")) return node;
    const exponent = this.exponent();
    return exponent ? powerOf(node, exponent) : node;
  }

  #argument(): Node {
    const { reader } = this;
    const close = reader.token.kind === "operator" ? DELIMITERS[reader.token.text] : undefined;
    if (close === undefined) return reader.nested(() => this.multiplicative(true));
    return this.group(reader.token.text, close);
  }
}
