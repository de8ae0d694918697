import { pyTypeName } from "../../base/python/door.ts";
import { suggest } from "../../base/suggest.ts";
import { type KeyPath, splitKey } from "../key-path.ts";
import {
  type ConfigNode,
  type DictNode,
  isMissing,
  isNull,
  listNode,
  literalText,
  positionOf,
  scalar,
  textOfNode,
} from "../node.ts";
import { nodeText, plainFromNode } from "../plain-data.ts";
import type { Interpolator, Located } from "./interpolate.ts";
import { parseElement, type ResolverCall } from "./interpolation-grammar.ts";

interface CallContext {
  interpolator: Interpolator;
  call: ResolverCall;
  holder: Located;
  args: ConfigNode[];
}

type Resolver = (context: CallContext) => Located;

const resolvers: Readonly<Record<string, Resolver>> = {
  "oc.env": environmentVariable,
  "oc.select": selectValue,
  "oc.decode": decodeText,
  "oc.create": ({ holder, args }) => at(holder, args[0] ?? scalar(null, holder.node.origin)),
  "oc.deprecated": requiredValue,
  "oc.dict.keys": mappingKeys,
  "oc.dict.values": mappingValues,
  // Directives that were not applied, for example in a list, stay as written.
  inherit_from: asWritten,
  copy: asWritten,
};

/** Calls `${name:args}` for the value at `holder`. */
export function callResolver(
  interpolator: Interpolator,
  name: string,
  call: ResolverCall,
  holder: Located,
): Located {
  const resolver = Object.hasOwn(resolvers, name) ? resolvers[name] : undefined;
  if (resolver === undefined) {
    const close = suggest(name, Object.keys(resolvers));
    const hint = close === undefined ? "" : `; did you mean '${close}'?`;
    throw interpolator.fail(holder, `unsupported interpolation type '${name}'${hint}`);
  }
  const args = call.args.map((arg) => interpolator.evaluateElement(arg, holder));
  return resolver({ interpolator, call, holder, args });
}

/** The text of the variable. A default becomes a text as in Python, except null. */
function environmentVariable(context: CallContext): Located {
  const { interpolator, holder, args } = context;
  const name = textArgument(context);
  const value = Object.hasOwn(interpolator.env, name) ? interpolator.env[name] : undefined;
  if (value !== undefined) return at(holder, literalText(value, holder.node.origin));
  const fallback = args[1];
  if (fallback === undefined) throw interpolator.fail(holder, `environment variable '${name}' is not set`);
  return at(holder, isNull(fallback) ? fallback : literalText(nodeText(fallback), fallback.origin));
}

/** The value at a path, or the default if it does not exist. */
function selectValue(context: CallContext): Located {
  const { interpolator, holder, args } = context;
  const key = textArgument(context);
  const dots = /^\.*/.exec(key)?.[0].length ?? 0;
  const base = interpolator.base(holder.path, dots);
  const target = base && interpolator.select(base, splitKey(key.slice(dots)));
  if (target !== undefined && !isMissing(target.node)) return target;
  return at(holder, args[1] ?? scalar(null, holder.node.origin));
}

/** The value at the path in the first argument. */
function requiredValue(context: CallContext): Located {
  const { interpolator, holder } = context;
  const key = textArgument(context);
  const target = selectValue({ ...context, args: context.args.slice(0, 1) });
  if (target.path === holder.path) throw interpolator.fail(holder, `there is no '${key}' in the config`);
  return target;
}

function mappingKeys(context: CallContext): Located {
  const { origin } = context.holder.node;
  const keys = [...requiredMapping(context).node.entries.keys()];
  return at(
    context.holder,
    listNode(
      origin,
      keys.map((key) => (typeof key === "string" ? literalText(key, origin) : scalar(key, origin))),
    ),
  );
}

function mappingValues(context: CallContext): Located {
  const { interpolator, holder } = context;
  const { node, path } = requiredMapping(context);
  const values = [...node.entries].map(([key, value]) =>
    interpolator.resolveDeep(value, [...path, String(key)]),
  );
  return at(holder, listNode(holder.node.origin, values));
}

/** The mapping at the path in the first argument. */
function requiredMapping(context: CallContext): { node: DictNode; path: KeyPath } {
  const { interpolator, holder, call } = context;
  const { node, path } = requiredValue(context);
  if (node.kind === "dict") return { node, path };
  throw interpolator.fail(holder, `'${call.text}' needs the path of a mapping`);
}

/** The typed value of a text; null stays null. */
function decodeText(context: CallContext): Located {
  const { interpolator, holder, args } = context;
  const [argument] = args;
  if (argument && isNull(argument)) return at(holder, argument);
  const element = parseElement(textArgument(context), positionOf(holder.node));
  return at(holder, interpolator.evaluateElement(element, holder));
}

function asWritten({ holder, call }: CallContext): Located {
  return at(holder, literalText(call.text, holder.node.origin));
}

function at(holder: Located, node: ConfigNode): Located {
  return { node, path: holder.path };
}

/** The first argument, which must be a text. */
function textArgument({ interpolator, call, holder, args: [argument] }: CallContext): string {
  const text = textOfNode(argument);
  if (text !== undefined) return text;
  const found = argument === undefined ? "nothing" : `a ${pyTypeName(plainFromNode(argument))}`;
  throw interpolator.fail(holder, `'${call.text}' needs a text as argument, not ${found}`);
}
