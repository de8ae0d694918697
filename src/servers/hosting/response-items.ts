import type { Response, ResponseOutputItem } from "../../wire/schemas/door.ts";

/** A message of the model, as an output item. */
export function messageItem(...texts: string[]): Record<string, unknown> {
  return {
    id: "msg_test",
    type: "message",
    role: "assistant",
    status: "completed",
    content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
  };
}

/** A call of the model; arguments that are not text are serialized as JSON. */
export function functionCallItem(
  name: string,
  args: unknown = {},
  callId = "call_test",
): Record<string, unknown> {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return {
    type: "function_call",
    name,
    arguments: text,
    call_id: callId,
    id: `fc_${callId}`,
    status: "completed",
  };
}

/** The output of a tool; output that is not text is serialized as JSON. */
export function functionCallOutputItem(output: unknown, callId = "call_test"): Record<string, unknown> {
  return {
    type: "function_call_output",
    call_id: callId,
    output: typeof output === "string" ? output : JSON.stringify(output),
  };
}

/** A response of a model with these output items. */
export function modelResponse(...output: unknown[]): Response & Record<string, unknown> {
  return {
    id: "resp_test",
    created_at: 1_700_000_000,
    model: "test",
    object: "response",
    output: output as ResponseOutputItem[],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
  };
}

/**
 * The body of a `/verify` request: a row and the output items of the rollout.
 *
 * @example await server.verify(verifyBody({ expected_answer: "B" }, messageItem("\\boxed{B}")))
 */
export function verifyBody(row: Record<string, unknown>, ...output: unknown[]): Record<string, unknown> {
  return {
    responses_create_params: { input: [] },
    ...row,
    response: modelResponse(...output),
  };
}
