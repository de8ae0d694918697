import { getCloseMatches } from "../python/difflib.ts";
import { pyStr, pyTypeName } from "../python/repr.ts";
import type { Interpolator, Located } from "./interpolate.ts";
import { parseElement, type ResolverCall } from "./interpolation-grammar.ts";
import { splitKey } from "./key-path.ts";
import { type ConfigNode, isMissing, literalText, positionOf, scalar } from "./node.ts";
import { plainFromNode } from "./plain-data.ts";

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
  // Directives that were not applied, in a list say, read as themselves.
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
    const [close] = getCloseMatches(name, Object.keys(resolvers), 1);
    const hint = close === undefined ? "" : `; did you mean '${close}'?`;
    throw interpolator.fail(holder.node, holder.path, `unsupported interpolation type '${name}'${hint}`);
  }
  const args = call.args.map((arg) => interpolator.evaluateElement(arg, holder));
  return resolver({ interpolator, call, holder, args });
}

/** The variable's text; a default is turned into text as Python would, null excepted. */
function environmentVariable(context: CallContext): Located {
  const { interpolator, holder, args } = context;
  const name = textArgument(context, 0);
  const value = Object.hasOwn(interpolator.env, name) ? interpolator.env[name] : undefined;
  if (value !== undefined) return at(holder, literalText(value, holder.node.origin));
  const fallback = args[1];
  if (fallback === undefined)
    throw interpolator.fail(holder.node, holder.path, `environment variable '${name}' is not set`);
  if (fallback.kind === "scalar") {
    if (fallback.value === null) return at(holder, fallback);
    return at(holder, literalText(pyStr(fallback.value), fallback.origin));
  }
  return at(holder, literalText(pyStr(plainFromNode(fallback)), fallback.origin));
}

/** The value at a path, or the default when there is none. */
function selectValue(context: CallContext): Located {
  const { interpolator, holder, args } = context;
  const key = textArgument(context, 0);
  const dots = /^\.*/.exec(key)?.[0].length ?? 0;
  const base = interpolator.base(holder.path, dots);
  const target = base && interpolator.select(base, splitKey(key.slice(dots)));
  if (target !== undefined && !isMissing(target.node)) return target;
  return at(holder, args[1] ?? scalar(null, holder.node.origin));
}

/** The typed value a text spells; null stays null. */
function decodeText(context: CallContext): Located {
  const { interpolator, holder, args } = context;
  const [argument] = args;
  if (argument?.kind === "scalar" && argument.value === null) return at(holder, argument);
  const element = parseElement(textArgument(context, 0), positionOf(holder.node));
  return at(holder, interpolator.evaluateElement(element, holder));
}

function asWritten({ holder, call }: CallContext): Located {
  return at(holder, literalText(call.text, holder.node.origin));
}

function at(holder: Located, node: ConfigNode): Located {
  return { node, path: holder.path };
}

function textArgument({ interpolator, call, holder, args }: CallContext, index: number): string {
  const argument = args[index];
  if (argument?.kind === "scalar" && typeof argument.value === "string") return argument.value;
  const found = argument === undefined ? "nothing" : `a ${pyTypeName(plainFromNode(argument))}`;
  throw interpolator.fail(holder.node, holder.path, `'${call.text}' needs a text as argument, not ${found}`);
}
