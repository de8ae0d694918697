import { parse, tokenize } from "@huggingface/jinja";
import { getCloseMatches } from "../../base/python/difflib.ts";
import { dumps } from "../../base/python/json/json-dumps.ts";
import { isObject } from "../../base/python/json/json-object.ts";
import { parsePyFloat } from "../../base/python/numbers/parse-number.ts";
import { isPyFloat, PyFloat } from "../../base/python/numbers/py-float.ts";
import { pyStr, pyTypeName } from "../../base/python/repr.ts";
import { isTruthy, pyEquals } from "../../base/python/truth.ts";
import { lstrip, rstrip, splitWords, strip } from "../../base/python/whitespace.ts";

/** The names that an expression sees. */
export type Scope = Readonly<Record<string, unknown>>;
export type Evaluate = (scope: Scope) => unknown;
/** Functions of expressions, by name. `scope` gives those with state their place. */
export type FunctionTable = Readonly<Record<string, (...args: unknown[]) => unknown>>;

type Syntax = { readonly type: string } & Readonly<Record<string, unknown>>;
type Emit = (scope: Scope, output: string[]) => void;

/** An expression that keeps the type of its value: Jinja's syntax with Python's meaning of values. */
export function compileExpression(text: string, functions: FunctionTable): Evaluate {
  const [only, ...rest] = syntaxOf(`{{ ${text.trim()} }}`);
  if (only === undefined || rest.length > 0) throw new Error(`'${text}' is not one expression`);
  return compile(only, functions);
}

/** A text with `{{ … }}`, `{% if %}` and `{% for %}`. */
export function compileTemplate(text: string, functions: FunctionTable): (scope: Scope) => string {
  if (!/\{[{%#]/.test(text)) return () => text;
  const emit = compileBody(syntaxOf(text), functions);
  return (scope) => {
    const output: string[] = [];
    emit(scope, output);
    return output.join("");
  };
}

function syntaxOf(text: string): Syntax[] {
  const { body } = parse(tokenize(text, { lstrip_blocks: true, trim_blocks: true }));
  return body as unknown as Syntax[];
}

function compileBody(body: readonly Syntax[], functions: FunctionTable): Emit {
  const parts = body.map((statement) => compileStatement(statement, functions));
  return (scope, output) => {
    for (const part of parts) part(scope, output);
  };
}

function compileStatement(statement: Syntax, functions: FunctionTable): Emit {
  switch (statement.type) {
    case "Comment":
      return () => {};
    case "StringLiteral":
      return (_, output) => output.push(statement["value"] as string);
    case "If": {
      const test = compile(statement["test"] as Syntax, functions);
      const body = compileBody(statement["body"] as Syntax[], functions);
      const other = compileBody(statement["alternate"] as Syntax[], functions);
      return (scope, output) => (isTruthy(test(scope)) ? body : other)(scope, output);
    }
    case "For": {
      const items = compile(statement["iterable"] as Syntax, functions);
      const variable = statement["loopvar"] as Syntax;
      if (variable.type !== "Identifier") throw new Error("'for' takes one name");
      const name = variable["value"] as string;
      const body = compileBody(statement["body"] as Syntax[], functions);
      const empty = compileBody(statement["defaultBlock"] as Syntax[], functions);
      return (scope, output) => {
        const list = listOf(items(scope));
        if (list.length === 0) empty(scope, output);
        for (const [index, item] of list.entries()) {
          const loop = {
            index: index + 1,
            index0: index,
            first: index === 0,
            last: index === list.length - 1,
          };
          body({ ...scope, [name]: item, loop }, output);
        }
      };
    }
    default: {
      const value = compile(statement, functions);
      return (scope, output) => output.push(pyStr(value(scope)));
    }
  }
}

function compile(node: Syntax, functions: FunctionTable): Evaluate {
  const part = (name: string) => compile(node[name] as Syntax, functions);
  switch (node.type) {
    case "IntegerLiteral":
    case "StringLiteral": {
      const { value } = node;
      return () => value;
    }
    case "FloatLiteral": {
      const value = Number.isInteger(node["value"]) ? new PyFloat(node["value"] as number) : node["value"];
      return () => value;
    }
    case "ArrayLiteral":
    case "TupleLiteral": {
      const items = (node["value"] as Syntax[]).map((item) => compile(item, functions));
      return (scope) => items.map((item) => item(scope));
    }
    case "ObjectLiteral": {
      const members = [...(node["value"] as Map<Syntax, Syntax>)].map(
        ([key, value]) => [compile(key, functions), compile(value, functions)] as const,
      );
      return (scope) => Object.fromEntries(members.map(([key, value]) => [pyStr(key(scope)), value(scope)]));
    }
    case "Identifier":
      return compileName(node["value"] as string);
    case "MemberExpression":
      return compileMember(node, functions);
    case "CallExpression":
      return compileCall(node, functions);
    case "FilterExpression":
      return compileFilter(part("operand"), node["filter"] as Syntax, functions);
    case "TestExpression":
      return compileTest(node, functions);
    case "UnaryExpression": {
      const value = part("argument");
      if ((node["operator"] as { value: string }).value === "not") return (scope) => !isTruthy(value(scope));
      return (scope) => arithmetic("-", 0, value(scope));
    }
    case "BinaryExpression":
      return compileBinary((node["operator"] as { value: string }).value, part("left"), part("right"));
    case "Ternary": {
      const [test, yes, no] = [part("condition"), part("trueExpr"), part("falseExpr")];
      return (scope) => (isTruthy(test(scope)) ? yes(scope) : no(scope));
    }
    case "SelectExpression": {
      const [test, value] = [part("test"), part("lhs")];
      return (scope) => (isTruthy(test(scope)) ? value(scope) : "");
    }
    default:
      throw new Error(`${node.type} is not possible here`);
  }
}

const CONSTANTS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  null: null,
};

function compileName(name: string): Evaluate {
  if (Object.hasOwn(CONSTANTS, name)) {
    const value = CONSTANTS[name];
    return () => value;
  }
  return (scope) => {
    const value = scope[name];
    if (value !== undefined) return value;
    if (Object.hasOwn(scope, name)) return null;
    throw new Error(unknownName(name, Object.keys(scope), "there is no name"));
  };
}

function unknownName(name: string, known: readonly string[], what: string): string {
  const [nearest] = getCloseMatches(name, known, 1, 0.6);
  return `${what} '${name}'${nearest === undefined ? "" : `; did you mean '${nearest}'?`}`;
}

function compileMember(node: Syntax, functions: FunctionTable): Evaluate {
  const object = compile(node["object"] as Syntax, functions);
  const property = node["property"] as Syntax;
  if (!node["computed"]) return (scope) => memberOf(object(scope), property["value"]);
  if (property.type === "SliceExpression") {
    const [start, stop, step] = ["start", "stop", "step"].map((name) =>
      property[name] === undefined ? undefined : compile(property[name] as Syntax, functions),
    );
    return (scope) => slice(object(scope), start?.(scope), stop?.(scope), step?.(scope));
  }
  const key = compile(property, functions);
  return (scope) => memberOf(object(scope), key(scope));
}

/** A member that is missing is null, as a missing value of a column is. */
function memberOf(object: unknown, key: unknown): unknown {
  if (typeof object === "string" || Array.isArray(object)) {
    const items = typeof object === "string" ? [...object] : object;
    if (typeof key !== "number") throw new Error(`${pyTypeName(object)} has no member ${pyStr(key)}`);
    return items.at(key) ?? null;
  }
  if (!isObject(object)) throw new Error(`${pyTypeName(object)} has no member ${pyStr(key)}`);
  const name = pyStr(key);
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

function slice(value: unknown, start: unknown, stop: unknown, step: unknown): unknown {
  const items = typeof value === "string" ? [...value] : listOf(value);
  let chosen = items.slice(
    (start as number | undefined) ?? undefined,
    (stop as number | undefined) ?? undefined,
  );
  if (step === -1) chosen = items.toReversed();
  else if (typeof step === "number" && step > 1) chosen = chosen.filter((_, index) => index % step === 0);
  return typeof value === "string" ? chosen.join("") : chosen;
}

interface Arguments {
  readonly given: (scope: Scope) => unknown[];
  readonly named: (scope: Scope) => Readonly<Record<string, unknown>>;
}

function compileArguments(args: readonly Syntax[], functions: FunctionTable): Arguments {
  const plain = args.filter(({ type }) => type !== "KeywordArgumentExpression");
  const keyed = args.filter(({ type }) => type === "KeywordArgumentExpression");
  const given = plain.map((arg) => compile(arg, functions));
  const named = keyed.map(
    ({ key, value }) => [(key as Syntax)["value"] as string, compile(value as Syntax, functions)] as const,
  );
  return {
    given: (scope) => given.map((arg) => arg(scope)),
    named: (scope) => Object.fromEntries(named.map(([key, value]) => [key, value(scope)])),
  };
}

function compileCall(node: Syntax, functions: FunctionTable): Evaluate {
  const callee = node["callee"] as Syntax;
  const { given, named } = compileArguments(node["args"] as Syntax[], functions);
  const hasNames = (node["args"] as Syntax[]).some(({ type }) => type === "KeywordArgumentExpression");
  const all = (scope: Scope) => (hasNames ? [...given(scope), named(scope)] : given(scope));
  if (callee.type === "Identifier") {
    const name = callee["value"] as string;
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (called === undefined)
      throw new Error(unknownName(name, Object.keys(functions), "there is no function"));
    return (scope) => called(...all(scope)) ?? null;
  }
  if (callee.type !== "MemberExpression" || callee["computed"])
    throw new Error("only functions can be called");
  const object = compile(callee["object"] as Syntax, functions);
  const name = (callee["property"] as Syntax)["value"] as string;
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (method === undefined) throw new Error(unknownName(name, Object.keys(METHODS), "there is no method"));
  return (scope) => method(object(scope), ...given(scope)) ?? null;
}

type Method = (value: unknown, ...args: unknown[]) => unknown;

const METHODS: Readonly<Record<string, Method>> = {
  strip: (value, characters) => strip(textOf(value), characters as string | undefined),
  lstrip: (value, characters) => lstrip(textOf(value), characters as string | undefined),
  rstrip: (value, characters) => rstrip(textOf(value), characters as string | undefined),
  split: (value, mark) =>
    mark === undefined ? splitWords(textOf(value)) : textOf(value).split(textOf(mark)),
  lower: (value) => textOf(value).toLowerCase(),
  upper: (value) => textOf(value).toUpperCase(),
  replace: (value, from, to) => textOf(value).replaceAll(textOf(from), () => textOf(to)),
  startswith: (value, start) => textOf(value).startsWith(textOf(start)),
  endswith: (value, end) => textOf(value).endsWith(textOf(end)),
  get: (value, key, other = null) =>
    isObject(value) && Object.hasOwn(value, pyStr(key)) ? value[pyStr(key)] : other,
  items: (value) => Object.entries(objectOf(value)),
  keys: (value) => Object.keys(objectOf(value)),
  values: (value) => Object.values(objectOf(value)),
};

const FILTERS: Readonly<Record<string, Method>> = {
  trim: (value, characters) => strip(textOf(value), characters as string | undefined),
  lower: (value) => pyStr(value).toLowerCase(),
  upper: (value) => pyStr(value).toUpperCase(),
  capitalize: (value) => capitalized(pyStr(value)),
  title: (value) => pyStr(value).replace(/[^\s]+/g, capitalized),
  string: (value) => pyStr(value),
  int: (value, other = 0) => wholeNumber(value) ?? other,
  float: (value, other = 0) => (typeof value === "string" ? (parsePyFloat(value) ?? other) : Number(value)),
  length: (value) => sizeOf(value),
  count: (value) => sizeOf(value),
  first: (value) => listOf(value)[0],
  last: (value) => listOf(value).at(-1),
  list: (value) => listOf(value),
  reverse: (value) =>
    typeof value === "string" ? [...value].toReversed().join("") : listOf(value).toReversed(),
  join: (value, mark = "") => listOf(value).map(pyStr).join(textOf(mark)),
  unique: (value) => unique(listOf(value)),
  sort: (value) => listOf(value).toSorted(compareValues),
  sum: (value) => listOf(value).reduce((total, item) => arithmetic("+", total, item), 0),
  replace: (value, from, to) => textOf(value).replaceAll(textOf(from), () => textOf(to)),
  default: (value, other = "") => value ?? other,
  tojson: (value) => dumps(value, { ensureAscii: false }),
  items: (value) => Object.entries(objectOf(value)),
};

function compileFilter(operand: Evaluate, filter: Syntax, functions: FunctionTable): Evaluate {
  const isCall = filter.type === "CallExpression";
  const name = ((isCall ? filter["callee"] : filter) as Syntax)["value"] as string;
  const args = compileArguments(isCall ? (filter["args"] as Syntax[]) : [], functions);
  if (name === "map") return compileMap(operand, args);
  if (name === "selectattr" || name === "rejectattr")
    return compileSelect(operand, args, name === "selectattr");
  const method = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (method !== undefined) return (scope) => method(operand(scope), ...args.given(scope)) ?? null;
  const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (called === undefined)
    throw new Error(unknownName(name, [...Object.keys(FILTERS), "map", "selectattr"], "there is no filter"));
  return (scope) => called(operand(scope), ...args.given(scope)) ?? null;
}

function compileMap(operand: Evaluate, { given, named }: Arguments): Evaluate {
  return (scope) => {
    const { attribute } = named(scope);
    const [name, ...rest] = given(scope);
    const items = listOf(operand(scope));
    if (attribute !== undefined) return items.map((item) => memberOf(item, attribute));
    const method = FILTERS[textOf(name)];
    if (method === undefined)
      throw new Error(unknownName(textOf(name), Object.keys(FILTERS), "there is no filter"));
    return items.map((item) => method(item, ...rest));
  };
}

function compileSelect(operand: Evaluate, { given }: Arguments, keeps: boolean): Evaluate {
  return (scope) => {
    const [attribute, test, value] = given(scope);
    const passes = (item: unknown) => {
      const member = memberOf(item, attribute);
      return test === undefined ? isTruthy(member) : runTest(textOf(test), member, value);
    };
    return listOf(operand(scope)).filter((item) => passes(item) === keeps);
  };
}

function compileTest(node: Syntax, functions: FunctionTable): Evaluate {
  const test = (node["test"] as Syntax)["value"] as string;
  const negate = Boolean(node["negate"]);
  const operand = node["operand"] as Syntax;
  if (operand.type === "Identifier" && (test === "defined" || test === "undefined")) {
    const name = operand["value"] as string;
    return (scope) => (Object.hasOwn(scope, name) === (test === "defined")) !== negate;
  }
  const value = compile(operand, functions);
  return (scope) => runTest(test, value(scope)) !== negate;
}

function runTest(test: string, value: unknown, other?: unknown): boolean {
  switch (test) {
    case "none":
    case "undefined":
      return value === null;
    case "defined":
      return value !== null;
    case "string":
      return typeof value === "string";
    case "number":
      return ["number", "bigint"].includes(typeof value) || value instanceof PyFloat;
    case "boolean":
      return typeof value === "boolean";
    case "mapping":
      return isObject(value);
    case "sequence":
      return Array.isArray(value) || typeof value === "string";
    case "equalto":
    case "eq":
      return pyEquals(value, other);
    case "ne":
      return !pyEquals(value, other);
    case "in":
      return contains(other, value);
    default:
      throw new Error(`there is no test '${test}'`);
  }
}

function compileBinary(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  switch (operator) {
    case "and":
      return (scope) => {
        const value = left(scope);
        return isTruthy(value) ? right(scope) : value;
      };
    case "or":
      return (scope) => {
        const value = left(scope);
        return isTruthy(value) ? value : right(scope);
      };
    case "~":
      return (scope) => pyStr(left(scope)) + pyStr(right(scope));
    case "==":
      return (scope) => pyEquals(left(scope), right(scope));
    case "!=":
      return (scope) => !pyEquals(left(scope), right(scope));
    case "in":
      return (scope) => contains(right(scope), left(scope));
    case "not in":
      return (scope) => !contains(right(scope), left(scope));
    case "<":
      return (scope) => compareValues(left(scope), right(scope)) < 0;
    case "<=":
      return (scope) => compareValues(left(scope), right(scope)) <= 0;
    case ">":
      return (scope) => compareValues(left(scope), right(scope)) > 0;
    case ">=":
      return (scope) => compareValues(left(scope), right(scope)) >= 0;
    default:
      return (scope) => arithmetic(operator, left(scope), right(scope));
  }
}

function contains(container: unknown, value: unknown): boolean {
  if (typeof container === "string") return container.includes(textOf(value));
  if (isObject(container)) return Object.hasOwn(container, pyStr(value));
  return listOf(container).some((item) => pyEquals(item, value));
}

/** Texts by code point, numbers by value. */
export function compareValues(left: unknown, right: unknown): number {
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a - b;
  throw new Error(`${pyTypeName(left)} and ${pyTypeName(right)} have no order`);
}

function compareTexts(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (const [index, character] of a.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? -1);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function arithmetic(operator: string, left: unknown, right: unknown): unknown {
  if (operator === "+" && typeof left === "string" && typeof right === "string") return left + right;
  if (operator === "+" && Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined)
    throw new Error(`${pyTypeName(left)} ${operator} ${pyTypeName(right)} is not possible`);
  const value = calculate(operator, a, b);
  const isFloat = operator === "/" || isPyFloat(left) || isPyFloat(right);
  return isFloat && Number.isInteger(value) ? new PyFloat(value) : value;
}

function calculate(operator: string, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%":
      return a - b * Math.floor(a / b);
    default:
      throw new Error(`there is no operator '${operator}'`);
  }
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value);
  return value instanceof PyFloat ? value.value : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" ? parsePyFloat(value) : numberOf(value);
  return number === undefined || !Number.isFinite(number) ? undefined : Math.trunc(number);
}

function unique(items: readonly unknown[]): unknown[] {
  return items.filter((item, index) => items.findIndex((other) => pyEquals(item, other)) === index);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}

function sizeOf(value: unknown): number {
  return typeof value === "string"
    ? [...value].length
    : isObject(value)
      ? Object.keys(value).length
      : listOf(value).length;
}

export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error(`a text is needed, but this is ${pyTypeName(value)}`);
}

export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (isObject(value)) return Object.keys(value);
  throw new Error(`a list is needed, but this is ${pyTypeName(value)}`);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Error(`an object is needed, but this is ${pyTypeName(value)}`);
}
