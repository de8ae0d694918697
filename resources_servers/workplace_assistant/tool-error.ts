/** Where a Python tool would have raised: the call changes nothing, and the model reads the message. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
