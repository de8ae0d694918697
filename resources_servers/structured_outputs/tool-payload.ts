import { functionCalls, type Response } from "nemo-gym/openai";
import { loads } from "nemo-gym/python";
import { isMapping, memberAt } from "nemo-gym/verify";
import { attempt, type Fault } from "./evaluate.ts";

/** The content of the only tool call of a response: its arguments, or the argument named `payloadKey`. */
export function toolPayload(
  response: Response,
  toolName: string | null | undefined,
  payloadKey: string | null | undefined,
): { value: unknown } | { fault: Fault } {
  if (response.error !== null && response.error !== undefined) {
    return fault("api_error", JSON.stringify(response.error));
  }
  const calls = functionCalls(response);
  const names = calls.map((call) => call.name).join(", ");
  const [call] = calls;
  if (call === undefined) return fault("missing_tool_call", "No function call in the response");
  if (calls.length > 1) return fault("multiple_tool_calls", `Expected one function call, got: ${names}`);
  if (toolName && call.name !== toolName)
    return fault("wrong_tool_name", `Expected '${toolName}', got: ${names}`);
  const parsed = attempt("tool_arguments_parse_error", () => loads(call.arguments, { allowNonFinite: true }));
  if ("fault" in parsed || !payloadKey) return parsed;
  const payload = isMapping(parsed.value) ? memberAt(parsed.value, payloadKey) : undefined;
  if (payload === undefined)
    return fault("missing_tool_payload_key", `Missing tool payload key: ${payloadKey}`);
  return { value: payload };
}

function fault(type: Fault["type"], message: string): { fault: Fault } {
  return { fault: { type, message } };
}
