import { GymError } from "nemo-gym";

/** A formula of the table of laws cannot be read. */
class FormulaError extends GymError {
  constructor(message: string) {
    super("NEWTON_FORMULA", message);
  }
}

export type Values = Readonly<Record<string, number>>;
type Term = (values: Values) => number;

const DEGREE = Math.PI / 180;
const FUNCTIONS: Readonly<Record<string, (value: number) => number>> = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  log: Math.log,
  // Of angles in radians.
  sin: Math.sin,
  cos: Math.cos,
  // Of angles in degrees.
  sind: (angle) => Math.sin(angle * DEGREE),
  cosd: (angle) => Math.cos(angle * DEGREE),
  tand: (angle) => Math.tan(angle * DEGREE),
  asind: (value) => Math.asin(value) / DEGREE,
  acosd: (value) => Math.acos(value) / DEGREE,
  atand: (value) => Math.atan(value) / DEGREE,
};
const TOKEN = /\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z_]\w*|\*\*|[-+*/()])/y;
const OPERATIONS: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
};

/** Reads an arithmetic formula of these variables, with the precedence of Python; `e` is Euler's number. */
export function compileFormula(text: string, variables: readonly string[]): Term {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new FormulaError(`'${text}' has a character that is no part of a formula`);
    tokens.push(token);
  }
  const expect = (token: string) => {
    if (tokens.shift() !== token) throw new FormulaError(`'${text}' lacks '${token}'`);
  };
  const chain = (operators: string, operand: () => Term): Term => {
    let left = operand();
    while (tokens[0] !== undefined && operators.includes(tokens[0])) {
      const operate = OPERATIONS[tokens.shift() as string] as (left: number, right: number) => number;
      const [first, second] = [left, operand()];
      left = (values) => operate(first(values), second(values));
    }
    return left;
  };
  const sum = (): Term => chain("+-", product);
  const product = (): Term => chain("*/", signed);
  const signed = (): Term => {
    if (tokens[0] !== "-") return power();
    tokens.shift();
    const term = signed();
    return (values) => -term(values);
  };
  const power = (): Term => {
    const base = atom();
    if (tokens[0] !== "**") return base;
    tokens.shift();
    const exponent = signed();
    return (values) => base(values) ** exponent(values);
  };
  const atom = (): Term => {
    const token = tokens.shift() ?? "";
    if (/^\d/.test(token)) return () => Number(token);
    const call = FUNCTIONS[token];
    if (token !== "(" && !call) {
      if (token === "e") return () => Math.E;
      if (!variables.includes(token))
        throw new FormulaError(`'${text}' has '${token}' where a value belongs`);
      return (values) => values[token] as number;
    }
    if (call) expect("(");
    const inner = sum();
    expect(")");
    return call ? (values) => call(inner(values)) : inner;
  };
  const formula = sum();
  if (tokens.length > 0) throw new FormulaError(`'${text}' goes on after its end: '${tokens[0]}'`);
  return formula;
}
