import type { JsonObject } from "../../../base/python/json/door.ts";
import { newId } from "../../../wire/door.ts";
import type { ChatMessage, ResponseCreateParams } from "../../../wire/schemas/door.ts";
import { type Cookies, mergeCookies } from "../../calls/cookies.ts";
import { runToolCall, type ToolRun } from "../../definitions/tool-calls.ts";
import type { LoopRecord } from "./loop-record.ts";

/** A tool of the resources server, for a framework. */
export interface GymTool {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  parameters: JsonObject;
  /** Runs the tool in the session of the rollout. An error of the tool is an output. `callId` is the model's id of the call. */
  run(input: unknown, callId?: string): Promise<string>;
}

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** Makes the function tools of a row callable. `session` holds the current cookies of the resources server. */
export function gymTools(
  params: ResponseCreateParams,
  options: ToolRun & { session: { cookies: Cookies }; record?: LoopRecord },
): GymTool[] {
  const { session, record } = options;
  const functions = (params.tools ?? []).filter((tool) => tool.type === "function");
  return functions.map(({ name, description, parameters }) => ({
    name,
    description: description ?? "",
    parameters: (parameters as JsonObject | null | undefined) ?? NO_PARAMETERS,
    async run(input, callId = record?.openCallOf(name) ?? newId("call")) {
      const args = typeof input === "string" ? input : JSON.stringify(input ?? {});
      const call = { type: "function_call" as const, call_id: callId, name, arguments: args };
      const { output, cookies } = await runToolCall(call, session.cookies, options);
      session.cookies = mergeCookies(session.cookies, cookies);
      record?.toolOutput(callId, output.output);
      return String(output.output);
    },
  }));
}

/** Tools for LangChain and LangGraph. `tool` is the function of `@langchain/core/tools`. */
export function langChainTools<Tool>(
  tools: readonly GymTool[],
  tool: (
    run: (input: unknown, config?: { toolCall?: { id?: string } }) => Promise<string>,
    options: { name: string; description: string; schema: JsonObject },
  ) => Tool,
): Tool[] {
  return tools.map(({ name, description, parameters, run }) =>
    tool((input, config) => run(input, config?.toolCall?.id), { name, description, schema: parameters }),
  );
}

/** The conversation for LangChain and LangGraph. `coerce` is `coerceMessageLikeToMessage` of `@langchain/core/messages`. */
export function langChainMessages<Message>(
  messages: readonly ChatMessage[],
  // biome-ignore lint/suspicious/noExplicitAny: the library is not a dependency, so its types are unknown
  coerce: (message: any) => Message,
): Message[] {
  return messages.map((message) => coerce(message));
}

/** Tools for the AI SDK. `tool` and `jsonSchema` are functions of `ai`. */
export function aiSdkTools<Tool>(
  tools: readonly GymTool[],
  library: {
    // biome-ignore lint/suspicious/noExplicitAny: the SDK is not a dependency, so its types are unknown
    tool(options: any): Tool;
    jsonSchema(schema: JsonObject): unknown;
  },
): Record<string, Tool> {
  const entries = tools.map(({ name, description, parameters, run }) => {
    const inputSchema = library.jsonSchema(parameters);
    const execute = (input: unknown, { toolCallId }: { toolCallId?: string }) => run(input, toolCallId);
    return [name, library.tool({ description, inputSchema, execute })];
  });
  return Object.fromEntries(entries) as Record<string, Tool>;
}

/** Tools for the OpenAI Agents SDK. `tool` is the function of `@openai/agents`. */
export function openAiAgentsTools<Tool>(
  tools: readonly GymTool[],
  // biome-ignore lint/suspicious/noExplicitAny: the SDK is not a dependency, so its types are unknown
  tool: (options: any) => Tool,
): Tool[] {
  return tools.map(({ name, description, parameters, run }) =>
    tool({
      name,
      description,
      // Without strict mode the SDK does not change the schema.
      strict: false,
      parameters: { additionalProperties: true, required: [], properties: {}, ...parameters },
      execute: (input: unknown, _context: unknown, details?: { toolCall?: { callId?: string } }) =>
        run(input, details?.toolCall?.callId),
    }),
  );
}
