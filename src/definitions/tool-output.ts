import { dumps } from "../python/json/json-dumps.ts";
import type { FunctionCall } from "../wire/schemas/responses.ts";

/** An entry of `info.tool_outputs` for the answer of a `/step`: the answer of a gymnasium-style environment to a tool call. */
export function toolOutput(
  call: Pick<FunctionCall, "call_id">,
  result: unknown,
): { call_id: string; output: string } {
  return { call_id: call.call_id, output: dumps(result) };
}
