import type { Invocation, ToolCall } from "./trajectory-parts.ts";

/**
 * The tool calls an agent told of, completed by what was observed from outside: what an observation knows counts, except that it may
 * not know how a call ended. The output is the one the model was shown.
 */
export function mergeTools(
  reported: readonly ToolCall[],
  observed: readonly ToolCall[],
  invocations: readonly Invocation[],
): ToolCall[] {
  const tools = [...reported];
  if (observed.length === 0) return tools;
  const outputs = shownOutputs(invocations);
  const positions = new Map<string, number>();
  for (const [index, tool] of tools.entries()) positions.set(keyOf(tool), index);
  for (const seen of observed) {
    const key = keyOf(seen);
    const position = seen.tool_call_id === null ? undefined : positions.get(key);
    const known = position === undefined ? undefined : tools[position];
    const merged = { ...(known ? overlay(known, seen) : seen) };
    if (outputs.has(key)) merged.output = outputs.get(key) ?? null;
    if (position !== undefined) tools[position] = merged;
    else {
      positions.set(key, tools.length);
      tools.push(merged);
    }
  }
  return tools;
}

function overlay(known: ToolCall, seen: ToolCall): ToolCall {
  const told = Object.entries(seen).filter(
    ([name, value]) => value !== null && !(name === "status" && value === "unknown"),
  );
  return { ...known, ...Object.fromEntries(told) };
}

/** What the conversations hold as outputs of tool calls. */
function shownOutputs(invocations: readonly Invocation[]): Map<string, ToolCall["output"]> {
  const outputs = new Map<string, ToolCall["output"]>();
  for (const { invocation_id, conversation } of invocations) {
    for (const item of conversation) {
      const { type, call_id, output } = (item ?? {}) as {
        type?: unknown;
        call_id?: unknown;
        output?: unknown;
      };
      if (type === "function_call_output" && typeof call_id === "string")
        outputs.set(keyOf({ invocation_id, tool_call_id: call_id }), output ?? null);
    }
  }
  return outputs;
}

const keyOf = ({ invocation_id, tool_call_id }: Pick<ToolCall, "invocation_id" | "tool_call_id">): string =>
  JSON.stringify([invocation_id, tool_call_id]);
