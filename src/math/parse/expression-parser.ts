import { transposed } from "../expression/matrix.ts";
import {
  call,
  constant,
  type Node,
  negated,
  powerOf,
  productOf,
  rationalNode,
  sumOf,
  symbol,
} from "../expression/node.ts";
import { add, isInteger } from "../numbers/rational.ts";
import { exponential, inBase, numberNode, quotient, withSubscript } from "./build-node.ts";
import { LIST_FUNCTIONS, SYMBOL_COMMANDS } from "./commands.ts";
import type { Reading } from "./compound-parser.ts";
import { FunctionParser } from "./function-parser.ts";
import type { Token } from "./tokens.ts";
import { TokenReader } from "./tokens.ts";

/** Commands that end a function argument without parentheses. */
const STARTS_FUNCTION = new Set(["sum", "prod", "int", "lim", "sqrt", "det", ...LIST_FUNCTIONS]);

/** Parses sums, products and powers. */
export class ExpressionParser extends FunctionParser {
  constructor(text: string, reading: Reading) {
    super(new TokenReader(text), reading);
  }

  override additive(): Node {
    const { reader } = this;
    return reader.nested(() => {
      const terms = [this.multiplicative()];
      while (reader.isOperator("+", "-")) {
        const minus = reader.next().text === "-";
        const term = this.multiplicative();
        terms.push(minus ? negated(term) : term);
      }
      return sumOf(terms);
    });
  }

  /** Parses the rest of `a \over b` and `a \choose b`. */
  override fraction(top: Node): Node {
    if (!this.reader.isCommand("over", "choose")) return top;
    const choose = this.reader.next().text === "choose";
    const bottom = this.additive();
    return choose ? call("binomial", top, bottom) : quotient(top, bottom);
  }

  override multiplicative(noFunctions = false): Node {
    const { reader } = this;
    let factors = [this.#signed(noFunctions)];
    for (;;) {
      if (reader.take("*")) factors.push(this.#signed(noFunctions));
      else if (reader.take("/")) factors = [quotient(productOf(factors), this.#signed(noFunctions))];
      else if (reader.isCommand("mod")) {
        reader.next();
        factors = [call("mod", productOf(factors), this.#signed(noFunctions))];
      } else return productOf(factors);
    }
  }

  #signed(noFunctions: boolean): Node {
    const { reader } = this;
    if (reader.take("-")) return negated(reader.nested(() => this.#signed(noFunctions)));
    if (reader.take("+")) return reader.nested(() => this.#signed(noFunctions));
    return this.#implicit(noFunctions);
  }

  /** Factors without an operator. A whole number before a positive fraction is a mixed number, in math-verify also `2(3)`. */
  #implicit(noFunctions: boolean): Node {
    const factors = [this.postfix()];
    while (this.#startsFactor(noFunctions)) {
      // Between bars, a bar opens another absolute value or closes this one.
      const isBar = this.insideBars && this.reader.isOperator("|");
      const factor = isBar ? this.reader.attempt(() => this.postfix()) : this.postfix();
      if (factor === undefined) break;
      factors.push(factor);
    }
    let tail = factors.pop() as Node;
    for (;;) {
      const mixed = mixedNumber(factors.at(-1), tail);
      if (mixed === undefined) return productOf([...factors, tail]);
      tail = mixed;
      factors.pop();
    }
  }

  #startsFactor(noFunctions: boolean): boolean {
    const { kind, text, command } = this.reader.token;
    if (kind === "number" || kind === "letter") return !(this.insideIntegral && text.length > 1);
    if (kind === "named") return command !== "mathbb" && command !== "end";
    if (kind === "command") {
      if (["over", "choose", "mod", "circ", "to", "rightarrow", "end"].includes(text)) return false;
      return !noFunctions || !(STARTS_FUNCTION.has(text) || this.isFunction(text));
    }
    return (
      ["(", "[", "{", "\\{", "{(", "|", "|(", "⌊", "⌈", "π", "∞", "∑", "∏"].includes(text) &&
      kind === "operator"
    );
  }

  override postfix(): Node {
    const { reader } = this;
    let node = this.#powers(this.#percent(this.atom(), reader.ahead(-1).text));
    for (;;) {
      if (reader.take("!")) node = call("factorial", node);
      else {
        const bar = node;
        const at = reader.isOperator("|") ? reader.attempt(() => this.evaluationBar(bar)) : undefined;
        if (!at) return node;
        node = at;
      }
    }
  }

  /** A percent sign after a number or a fraction of numbers. */
  #percent(atom: Node, last: string): Node {
    const isNumber = (atom.kind === "number" || atom.kind === "float") && last !== ")";
    return isNumber && this.reader.take("%") ? { kind: "percent", value: atom } : atom;
  }

  #powers(atom: Node): Node {
    const { reader } = this;
    let base = atom;
    let result = base;
    for (;;) {
      if (reader.take("_")) {
        const subscript = this.subscript();
        if (base.kind === "symbol") {
          const named = withSubscript(base, subscript);
          result =
            result === base ? named : result.kind === "power" ? powerOf(named, result.exponent) : named;
          base = named;
        } else if (base.kind !== "number" && base.kind !== "float")
          throw reader.unexpected("a subscript has no meaning here");
        else if (this.strict) result = inBase(base, subscript);
      } else if (reader.take("^")) {
        if (this.#transposes()) {
          if (result.kind === "matrix") result = transposed(result);
          continue;
        }
        const exponent = this.exponent();
        if (exponent === undefined) {
          if (this.strict) result = call("degrees", result);
          continue;
        }
        if (result.kind === "constant" && result.name === "e") result = exponential(exponent);
        else result = powerOf(result, exponent);
        const applied =
          base.kind === "symbol" && result.kind === "power" ? this.application(base.name) : undefined;
        if (applied) result = powerOf(applied, exponent);
      } else return result;
    }
  }

  /** Reads the power `T`, also in braces. */
  #transposes(): boolean {
    const { reader } = this;
    const braced = reader.isOperator("{");
    const name = reader.ahead(braced ? 1 : 0);
    if (name.kind !== "letter" || name.text !== "T" || (braced && reader.ahead(2).text !== "}")) return false;
    for (let count = braced ? 3 : 1; count > 0; count--) reader.next();
    return true;
  }

  /** A power: one character, number or command, or a group in braces. Undefined for a degree sign. */
  override exponent(): Node | undefined {
    const { reader } = this;
    if (reader.isCommand("circ")) {
      reader.next();
      return undefined;
    }
    if (!reader.isOperator("{")) return this.simple();
    reader.next();
    if (reader.isCommand("circ") && reader.ahead(1).text === "}") {
      reader.next();
      reader.next();
      return undefined;
    }
    const exponent = this.fraction(this.additive());
    reader.expect("}");
    return exponent;
  }

  /** A single number or symbol. */
  override simple(): Node {
    const { reader } = this;
    const { token } = reader;
    if (token.kind === "number") return numberNode(reader.next().text);
    if (token.kind === "letter" || (token.kind === "command" && SYMBOL_COMMANDS.has(token.text)))
      return this.letter();
    if (reader.take("π")) return constant("pi");
    if (reader.take("∞")) return constant("infinity");
    throw reader.unexpected("expected a number or symbol");
  }

  override letter(): Node {
    const { text } = this.reader.next();
    if (text === "e") return constant("e");
    if (text === "I") return constant("i");
    // Upstream lowers single letters; mathematics does not.
    return symbol(text.length === 2 || this.strict ? text : text.toLowerCase(), this.real);
  }

  override subscript(): string {
    const { reader } = this;
    if (reader.take("{")) {
      let text = "";
      let depth = 1;
      for (;;) {
        const token = reader.next();
        if (token.kind === "end") throw reader.unexpected("the braces of a subscript are not closed");
        if (token.text === "{") depth++;
        if (token.text === "}" && --depth === 0) return text;
        text += subscriptText(token);
      }
    }
    const token = reader.next();
    if (token.kind === "end" || token.kind === "operator") throw reader.unexpected("expected a subscript");
    return subscriptText(token);
  }
}

function mixedNumber(left: Node | undefined, right: Node): Node | undefined {
  if (left?.kind !== "number" || right.kind !== "number") return undefined;
  const isMixed = isInteger(left.value) && left.value.n >= 0n && right.value.n > 0n;
  return isMixed ? rationalNode(add(left.value, right.value)) : undefined;
}

function subscriptText(token: Token): string {
  return token.kind === "command" ? `\\${token.text}` : token.text;
}
