import { loadsPlain, pyEquals } from "nemo-gym/python";

/** An expected call of the row: `arguments` is an object, or its JSON text. */
export type ExpectedCall = Readonly<Record<string, unknown>>;

export interface PredictedCall {
  name: string;
  /** The parsed arguments; an empty object if the text is not valid JSON. */
  arguments: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Parses a call of the model. */
export function predictedCall(call: { name: string; arguments: string }): PredictedCall {
  return { name: call.name, arguments: tryLoads(call.arguments) };
}

/**
 * The number of expected calls with a distinct predicted match: same name, every expected argument present and equal.
 * Each expected call keeps its first match, so an earlier one can leave a later one without a match.
 */
export function countMatches(expected: readonly ExpectedCall[], predicted: readonly PredictedCall[]): number {
  const open = predicted.map(({ name, arguments: value }) => ({
    name,
    arguments: asArguments(value),
    used: false,
  }));
  let matches = 0;
  for (const wanted of expected) {
    const needed = Object.entries(asArguments(wanted["arguments"]));
    const taken = open.find(
      (call) => !call.used && call.name === wanted["name"] && hasAll(call.arguments, needed),
    );
    if (taken === undefined) continue;
    taken.used = true;
    matches++;
  }
  return matches;
}

function hasAll(given: Arguments, needed: [string, unknown][]): boolean {
  return needed.every(([key, value]) => Object.hasOwn(given, key) && pyEquals(given[key], value));
}

/** The arguments to compare: JSON text is parsed; anything that is not an object counts as no arguments. */
function asArguments(value: unknown): Arguments {
  const read = typeof value === "string" ? tryLoads(value) : value;
  const isObject = typeof read === "object" && read !== null && !Array.isArray(read);
  return isObject ? (read as Arguments) : {};
}

function tryLoads(text: string): unknown {
  try {
    return loadsPlain(text, { allowNonFinite: true });
  } catch {
    return {};
  }
}
