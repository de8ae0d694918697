/** An error that a Python tool would raise: the call changes nothing, and the model sees the message. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
