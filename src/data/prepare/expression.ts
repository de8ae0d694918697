import { parse, tokenize } from "@huggingface/jinja";
import { isTruthy, pyEquals, pyStr } from "../../base/python/door.ts";
import { PyFloat } from "../../base/python/numbers/door.ts";
import { suggest } from "../../base/suggest.ts";
import {
  arithmetic,
  compareCells,
  contains,
  FILTERS,
  METHODS,
  memberOf,
  neededList,
  neededText,
  runTest,
  slice,
} from "./values.ts";

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

/**
 * A text with `{{ … }}`, `{% if %}`, `{% for %}` and `{% set %}`. With `keepsBlanks` blanks and line breaks around statements stay, as
 * Jinja does by default.
 */
export function compileTemplate(
  text: string,
  functions: FunctionTable,
  { keepsBlanks = false }: { keepsBlanks?: boolean } = {},
): (scope: Scope) => string {
  if (!/\{[{%#]/.test(text)) return () => text;
  const emit = compileBody(syntaxOf(text, keepsBlanks), functions);
  const sets = /\{%-?\s*set\b/.test(text);
  return (scope) => {
    const output: string[] = [];
    emit(sets ? { ...scope } : scope, output);
    return output.join("");
  };
}

function syntaxOf(text: string, keepsBlanks = false): Syntax[] {
  // The tokenizer drops one line break at the end.
  const source = keepsBlanks && text.endsWith("\n") ? `${text}\n` : text;
  const { body } = parse(tokenize(source, { lstrip_blocks: !keepsBlanks, trim_blocks: !keepsBlanks }));
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
    case "For":
      return compileFor(statement, functions);
    case "Set":
      return compileSet(statement, functions);
    default: {
      const value = compile(statement, functions);
      return (scope, output) => output.push(pyStr(value(scope)));
    }
  }
}

function compileFor(statement: Syntax, functions: FunctionTable): Emit {
  const given = statement["iterable"] as Syntax;
  const isFiltered = given.type === "SelectExpression";
  const items = compile((isFiltered ? given["lhs"] : given) as Syntax, functions);
  const keeps = isFiltered ? compile(given["test"] as Syntax, functions) : undefined;
  const names = namesOf(statement["loopvar"] as Syntax);
  const body = compileBody(statement["body"] as Syntax[], functions);
  const empty = compileBody(statement["defaultBlock"] as Syntax[], functions);
  const [only = "", ...others] = names;
  const named = (item: unknown) =>
    others.length === 0
      ? { [only]: item }
      : Object.fromEntries(names.map((name, index) => [name, neededList(item)[index] ?? null]));
  return (scope, output) => {
    const list = neededList(items(scope)).filter(
      (item) => keeps === undefined || isTruthy(keeps({ ...scope, ...named(item) })),
    );
    if (list.length === 0) empty(scope, output);
    for (const [index, item] of list.entries()) {
      const { length } = list;
      const loop = {
        index: index + 1,
        index0: index,
        first: index === 0,
        last: index === length - 1,
        length,
      };
      body({ ...scope, ...named(item), loop }, output);
    }
  };
}

function namesOf(variable: Syntax): string[] {
  const parts = variable.type === "TupleLiteral" ? (variable["value"] as Syntax[]) : [variable];
  if (parts.some(({ type }) => type !== "Identifier")) throw new Error("'for' takes names");
  return parts.map(({ value }) => value as string);
}

/** The name belongs to the template or to the loop around it. */
function compileSet(statement: Syntax, functions: FunctionTable): Emit {
  const assignee = statement["assignee"] as Syntax;
  if (assignee.type !== "Identifier" || !statement["value"])
    throw new Error("'set' takes one name and a value");
  const name = assignee["value"] as string;
  const value = compile(statement["value"] as Syntax, functions);
  return (scope) => {
    (scope as Record<string, unknown>)[name] = value(scope);
  };
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
  const nearest = suggest(name, known);
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
    const items = neededList(operand(scope));
    if (attribute !== undefined) return items.map((item) => memberOf(item, attribute));
    const method = FILTERS[neededText(name)];
    if (method === undefined)
      throw new Error(unknownName(neededText(name), Object.keys(FILTERS), "there is no filter"));
    return items.map((item) => method(item, ...rest));
  };
}

function compileSelect(operand: Evaluate, { given }: Arguments, keeps: boolean): Evaluate {
  return (scope) => {
    const [attribute, test, value] = given(scope);
    const passes = (item: unknown) => {
      const member = memberOf(item, attribute);
      return test === undefined ? isTruthy(member) : runTest(neededText(test), member, value);
    };
    return neededList(operand(scope)).filter((item) => passes(item) === keeps);
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
      return (scope) => compareCells(left(scope), right(scope)) < 0;
    case "<=":
      return (scope) => compareCells(left(scope), right(scope)) <= 0;
    case ">":
      return (scope) => compareCells(left(scope), right(scope)) > 0;
    case ">=":
      return (scope) => compareCells(left(scope), right(scope)) >= 0;
    default:
      return (scope) => arithmetic(operator, left(scope), right(scope));
  }
}
