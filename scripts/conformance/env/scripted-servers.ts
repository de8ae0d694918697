import { isObject, type JsonObject } from "./rows.ts";

/** A call of the server under test to another server of the run. */
export interface RecordedCall {
  server: string;
  path: string;
  body: JsonObject;
}

export interface ScriptedReply {
  status: number;
  body: unknown;
}

/** Other servers of the run that respond from a fixture's script and record their calls. */
export class ScriptedServers {
  readonly calls: RecordedCall[] = [];
  private readonly script: unknown;
  private readonly keyOf: ((call: RecordedCall) => string) | undefined;
  private readonly used = new Map<string, number>();

  /** `script`: responses in call order, or (for concurrent calls) by a key that `keyOf` reads from the call. */
  constructor(script: unknown, keyOf?: (call: RecordedCall) => string) {
    this.script = script;
    this.keyOf = keyOf;
  }

  handler(server: string): (path: string, body: unknown) => ScriptedReply {
    return (path, body) => {
      const call = { server, path, body: isObject(body) ? body : {} };
      this.calls.push(call);
      return replyTo(path, this.next(call));
    };
  }

  private next(call: RecordedCall): unknown {
    const key = this.keyOf?.(call) ?? "";
    const position = this.used.get(key) ?? 0;
    this.used.set(key, position + 1);
    if (Array.isArray(this.script)) return this.script[position];
    if (!isObject(this.script)) return undefined;
    const replies = this.script[key];
    return Array.isArray(replies) ? replies[position] : replies;
  }
}

/** Converts one entry of `judge_outputs` to the response of the judge server on that path. */
export function replyTo(path: string, entry: unknown): ScriptedReply {
  if (entry === null || entry === undefined) throw new Error("the scripted call fails");
  if (isObject(entry)) {
    if (typeof entry["http_status"] === "number") {
      return { status: entry["http_status"], body: entry["body"] ?? "" };
    }
    return { status: 200, body: entry };
  }
  if (path.endsWith("/chat/completions")) return { status: 200, body: chatCompletion(String(entry)) };
  const output = typeof entry === "string" ? [outputMessage(entry)] : entry;
  return { status: 200, body: responseOf(output) };
}

export function outputMessage(text: string): JsonObject {
  return {
    id: "msg_judge",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

export function responseOf(output: unknown): JsonObject {
  return {
    id: "resp_judge",
    created_at: 1_700_000_000,
    model: "judge",
    object: "response",
    output,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
  };
}

function chatCompletion(content: string): JsonObject {
  return {
    id: "chat_judge",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "judge",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
  };
}

/** The messages of a recorded call of either API. */
export function messagesOf(call: RecordedCall): JsonObject[] {
  const messages = call.body["messages"] ?? call.body["input"];
  if (typeof messages === "string") return [{ role: "user", content: messages }];
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}
