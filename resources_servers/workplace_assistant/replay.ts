import { loads, PyFloat } from "nemo-gym/python";
import type { Databases } from "./databases.ts";
import { ToolError } from "./tool-error.ts";
import { tools } from "./tools/index.ts";
import { Workplace } from "./workplace.ts";

export interface Call {
  name: string;
  /** JSON text of the keyword arguments. */
  arguments: string;
}

/** Makes the state-changing calls in order in a new workplace; calls that fail are skipped. */
export function replay(databases: Databases, calls: readonly Call[]): Workplace {
  const workplace = new Workplace(databases);
  for (const call of calls) {
    if (!Object.hasOwn(tools, call.name) || !tools[call.name]?.changes) continue;
    const given = readArguments(call.arguments);
    if (given === undefined) continue;
    try {
      workplace.call(tools, call.name, given);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
    }
  }
  return workplace;
}

function readArguments(text: string): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = loads(text, { allowNonFinite: true });
  } catch {
    return undefined;
  }
  const isObject =
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof PyFloat);
  return isObject ? (value as Record<string, unknown>) : undefined;
}
