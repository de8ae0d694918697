import { HttpError } from "nemo-gym";
import { isObject, loadsPlain } from "nemo-gym/python";
import { schemaFault } from "../../libraries/json-schema/validate.ts";
import { schemaOf, type Tool } from "./row.ts";

export interface ToolCall {
  tool_name: string;
  tool_call_id: string;
  arguments: string;
}
interface Text {
  type: "text";
  source: "user" | "agent";
  content: string;
}
type Called = { type: "tool_call"; source: "agent" } & ToolCall;
type Executed = {
  type: "tool_execution";
  source: "environment";
  content: string;
  schema_valid: boolean;
} & ToolCall;
export type Message = Text | Called | Executed;

export type Label =
  | "user_failure"
  | "agent_failure"
  | "tool_failure"
  | "trajectory_failure"
  | "verification_generation_error";
export type Reason =
  | "message_generation_error"
  | "invalid_user_message"
  | "invalid_agent_tool_call"
  | "invalid_environment_tool_execution"
  | "excessive_length";

export type TerminalState = "complete" | "incomplete";

/** What has been said and done in one conversation, and how it ended. */
export class Conversation {
  readonly messages: Message[] = [];
  readonly #tools: ReadonlyMap<string, Tool>;
  /** Messages that the row brought. */
  prefilled = 0;
  terminal: TerminalState | null = null;
  /** Why it ended before the user was done. */
  failure: { reason: Reason; label: Label } | undefined;
  /** The message of a simulator that could not be reached. */
  unreachable: string | undefined;

  constructor(tools: ReadonlyMap<string, Tool>) {
    this.#tools = tools;
  }

  /** The calls of the agent that no tool has answered yet. */
  get pending(): ToolCall[] {
    const done = new Set(this.messages.flatMap((item) => executed(item)?.tool_call_id ?? []));
    return this.messages.flatMap((item) =>
      item.type === "tool_call" && !done.has(item.tool_call_id) ? [callOf(item)] : [],
    );
  }

  get nextActor(): "terminal" | "environment" | "user" | "agent" {
    if (this.terminal) return "terminal";
    if (this.pending.length > 0) return "environment";
    const last = this.messages.at(-1);
    return last === undefined || (last.type === "text" && last.source === "agent") ? "user" : "agent";
  }

  get state() {
    return { should_continue: this.terminal === null, terminal_state: this.terminal };
  }

  fail(reason: Reason, label: Label): void {
    this.terminal = "incomplete";
    this.failure ??= { reason, label };
  }

  say(source: "user" | "agent", content: string): void {
    this.messages.push({ type: "text", source, content });
  }

  /** Records a call of the agent; one that its tool does not allow ends the conversation. Returns the fault. */
  call(call: ToolCall): string | undefined {
    const isKnown = this.messages.some(
      (item) => item.type === "tool_call" && item.tool_call_id === call.tool_call_id,
    );
    this.messages.push({ type: "tool_call", source: "agent", ...call });
    const fault = isKnown ? `The id '${call.tool_call_id}' was used before.` : this.#faultOf(call);
    if (fault !== undefined) this.fail("invalid_agent_tool_call", "agent_failure");
    return fault;
  }

  /** The recorded call that is to be executed; undefined if it is a new one. */
  recorded(call: ToolCall): ToolCall | undefined {
    const found = this.messages.find(
      (item) => item.type === "tool_call" && item.tool_call_id === call.tool_call_id,
    );
    if (!found) return undefined;
    if (this.messages.some((item) => executed(item)?.tool_call_id === call.tool_call_id))
      throw new HttpError(400, `The call '${call.tool_call_id}' was executed before.`);
    const known = callOf(found as Called);
    if (known.tool_name !== call.tool_name || known.arguments !== call.arguments)
      throw new HttpError(
        400,
        `The call '${call.tool_call_id}' was recorded with another name or arguments.`,
      );
    return known;
  }

  execute(call: ToolCall, content: string, isValid: boolean): void {
    const source = "environment";
    this.messages.push({ type: "tool_execution", source, ...call, content, schema_valid: isValid });
    if (!isValid) this.fail("invalid_environment_tool_execution", "tool_failure");
  }

  /** Adds the messages of a request: a conversation that already began. */
  prefill(input: unknown): void {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
    if (!Array.isArray(items)) throw new HttpError(400, "responses_create_params.input is not a list.");
    for (const item of items) this.#prefillItem(item);
    this.prefilled = this.messages.length;
  }

  #prefillItem(item: unknown): void {
    if (!isObject(item)) throw new HttpError(400, "An item of the input is not an object.");
    const { type = "message", role, call_id: id } = item;
    if (type === "reasoning" || (type === "message" && (role === "system" || role === "developer"))) return;
    if (type === "message" && (role === "user" || role === "assistant")) {
      this.say(role === "user" ? "user" : "agent", textOf(item["content"]));
      return;
    }
    const known = this.messages.find((each) => each.type === "tool_call" && each.tool_call_id === id);
    if (type === "function_call" && typeof id === "string" && !known) {
      const call = {
        tool_name: String(item["name"]),
        tool_call_id: id,
        arguments: String(item["arguments"]),
      };
      this.messages.push({ type: "tool_call", source: "agent", ...call });
    } else if (
      type === "function_call_output" &&
      known &&
      this.pending.some((call) => call.tool_call_id === id)
    )
      this.execute(callOf(known as Called), textOf(item["output"]), true);
    else
      throw new HttpError(
        400,
        `The input has an item that does not fit: ${String(type)} ${String(id ?? role)}`,
      );
  }

  #faultOf(call: ToolCall): string | undefined {
    const tool = this.#tools.get(call.tool_name);
    if (!tool) return `There is no tool '${call.tool_name}'.`;
    const schema = schemaOf(tool);
    return schema === undefined ? undefined : jsonFault(call.arguments, schema);
  }
}

/** Why a text is not JSON that a schema allows; undefined if it is. */
export function jsonFault(text: string, schema: unknown): string | undefined {
  let value: unknown;
  try {
    value = loadsPlain(text);
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return schemaFault(schema, value);
}

function executed(item: Message): Executed | undefined {
  return item.type === "tool_execution" ? item : undefined;
}

function callOf({ tool_name, tool_call_id, arguments: given }: ToolCall): ToolCall {
  return { tool_name, tool_call_id, arguments: given };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new HttpError(400, "A message of the input has no text.");
  return content
    .flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : []))
    .join("");
}
