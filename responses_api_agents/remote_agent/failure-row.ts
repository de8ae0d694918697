import type { JsonObject } from "nemo-gym";
import { materializeResponse, ValidationError } from "nemo-gym/openai";

const ROUTING_KEYS = new Set(["reward", "response", "error"]);

/** The row without fields of an earlier result. */
export function withoutRoutingKeys(row: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(row).filter(
      ([key]) => !ROUTING_KEYS.has(key) && !key.startsWith("_ng_failure") && key !== "_ng_no_persist",
    ),
  );
}

/** The response for a rollout that the remote agent could not finish: a typed failure, never an HTTP error. */
export function failureRow(row: JsonObject, error: unknown): JsonObject {
  const message = error instanceof Error ? error.message : String(error);
  return {
    ...row,
    response: materializeResponse({
      id: "remote_agent_failure",
      created_at: 0,
      model: "remote_agent",
      object: "response",
      output: [
        {
          type: "message",
          id: "msg_0",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "", annotations: [] }],
        },
      ],
      parallel_tool_calls: false,
      tool_choice: "auto",
      tools: [],
    }),
    reward: 0,
    error: message,
    _ng_failure_class: "remote_agent_error",
    // A retry does not help with an agent that violates the protocol.
    ...(error instanceof ValidationError && { _ng_failure_terminal: true }),
  };
}
