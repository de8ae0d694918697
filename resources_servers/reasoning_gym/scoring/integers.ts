import { strip } from "nemo-gym/python";

const INTEGER =
  /^([+-]?)(?:(0[xX])((?:_?[0-9a-fA-F])+)|(0[oO])((?:_?[0-7])+)|(0[bB])((?:_?[01])+)|((?:[1-9](?:_?\d)*|0(?:_?0)*)))$/;
const MAX_DIGITS = 4300;

/** Python's `int(text, 0)`: the prefix determines the base. */
export function parsePyInteger(text: string): bigint {
  const plain = strip(text);
  const match = plain.length > MAX_DIGITS ? null : INTEGER.exec(plain);
  if (match === null) throw new TypeError("not an integer");
  const magnitude = BigInt(plain.replace(/^[+-]/, "").replaceAll("_", "").replace(/^0+$/, "0"));
  return match[1] === "-" ? -magnitude : magnitude;
}

/** Larger shifts are rejected because they would only fill memory. */
const MAX_SHIFT = 10_000n;

type Operator = (left: bigint, right: bigint) => bigint;
/** Python's binary operators on integers, lowest precedence first. */
const LEVELS: Readonly<Record<string, Operator>>[] = [
  { "|": (a, b) => a | b },
  { "^": (a, b) => a ^ b },
  { "&": (a, b) => a & b },
  { "<<": (a, b) => a << shift(b), ">>": (a, b) => a >> shift(b) },
  { "+": (a, b) => a + b, "-": (a, b) => a - b },
  { "*": (a, b) => a * b },
];

function shift(by: bigint): bigint {
  if (by < 0n || by > MAX_SHIFT) throw new RangeError("the shift is out of range");
  return by;
}

/** Evaluates an integer expression such as `((0x3a24 - 0x24b8) + (0x1741 >> 0x3))`. */
export function evaluateBitwise(text: string): bigint {
  const tokens = text.match(/0[xX][0-9a-fA-F]+|\d+|<<|>>|[-+*&|^~()]|\S/g) ?? [];
  let position = 0;
  const level = (index: number): bigint => {
    const operators = LEVELS[index];
    if (operators === undefined) return unary();
    let value = level(index + 1);
    for (;;) {
      const token = tokens[position] ?? "";
      const operator = Object.hasOwn(operators, token) ? operators[token] : undefined;
      if (operator === undefined) return value;
      position++;
      value = operator(value, level(index + 1));
    }
  };
  const unary = (): bigint => {
    const token = tokens[position++] ?? "";
    if (token === "-") return -unary();
    if (token === "~") return ~unary();
    if (token !== "(") return parsePyInteger(token);
    const inner = level(0);
    if (tokens[position++] !== ")") throw new TypeError("expected a closing parenthesis");
    return inner;
  };
  const result = level(0);
  if (position < tokens.length) throw new TypeError("unexpected text");
  return result;
}
