import {
  allAssistantText,
  callServer,
  errorMessage,
  type JsonObject,
  loadPromptYaml,
  type ServerContext,
} from "nemo-gym";
import { dumps, isObject, strip } from "nemo-gym/python";
import type { Config } from "./config.ts";
import { type Conversation, jsonFault, type Message, type ToolCall } from "./conversation.ts";
import type { Seed } from "./row.ts";

const STOP = "###STOP###";
export const TRANSFER = "###TRANSFER###";
/** What the user says without a model. */
const FOLLOW_UP = "Thanks. Please continue helping me with this request.";
const FIELDS = [
  "persona",
  "reason",
  "details",
  "unknown",
  "instructions",
  "profile",
  "domain",
  "conversation",
];
const TOOL_FIELDS = ["tool", "policy", "persona", "details", "instructions", "conversation", "call"];

/** The models that play the customer and the tools. */
export type Simulators = Awaited<ReturnType<typeof createSimulators>>;

export async function createSimulators(server: ServerContext<Config>) {
  const { config } = server;
  const userPrompt = await loadPromptYaml(server, config.user_prompt_path, FIELDS);
  const toolPrompt = await loadPromptYaml(server, config.tool_simulator_prompt_path, TOOL_FIELDS);

  const ask = async (
    name: string,
    params: JsonObject | null | undefined,
    prompt: string,
    signal: AbortSignal,
  ) => {
    const body = { ...params, input: [{ role: "user", content: prompt }] };
    const call = {
      server: name,
      path: "/v1/responses",
      body,
      stage: "tool",
      idempotent: true,
      signal,
    } as const;
    const reply: unknown = (await callServer(server.client, call)).json();
    const output = isObject(reply) ? reply["output"] : undefined;
    const text = Array.isArray(output) ? allAssistantText({ output }) : "";
    if (text === "") throw new Error(`'${name}' answered without a text`);
    return text;
  };

  return {
    /** The next message of the customer. */
    async customer(conversation: Conversation, seed: Seed, signal: AbortSignal): Promise<string> {
      const isFirst = conversation.messages.length === 0;
      const { customer_scenario: scenario } = seed;
      const model = config.user_model_server ?? config.simulator_model_server;
      if (model === undefined) {
        const message = isFirst ? (scenario.reason_for_contact ?? FOLLOW_UP) : FOLLOW_UP;
        conversation.say("user", message);
        return message;
      }
      const prompt = userPrompt.user.render({
        ...scenarioFields(seed),
        profile: seed.profile ?? "general",
        domain: seed.domain_name ?? scenario.representative_domain ?? "",
        conversation: transcript(conversation.messages.filter(({ type }) => type === "text")),
      });
      try {
        let message = "";
        for (let attempt = 0; attempt < config.generation_attempts; attempt++) {
          const said = await ask(model, config.user_responses_create_params, prompt, signal);
          message = strip(said.replace(/^\s*Customer:/, ""));
          const isOver = message.includes(STOP) || message.includes(TRANSFER);
          if (isFirst && isOver) continue;
          conversation.say("user", message);
          if (isOver) conversation.terminal = "complete";
          return message;
        }
        conversation.say("user", message);
        conversation.fail("invalid_user_message", "user_failure");
        return message;
      } catch (error) {
        signal.throwIfAborted();
        conversation.unreachable = errorMessage(error);
        conversation.fail("message_generation_error", "user_failure");
        return "";
      }
    },

    /** What a tool answers to a recorded call. */
    async execute(conversation: Conversation, seed: Seed, call: ToolCall, signal: AbortSignal) {
      const tool = seed.tools.find(({ name }) => name === call.tool_name);
      const model = config.tool_simulator_model_server ?? config.simulator_model_server;
      const prompt = toolPrompt.user.render({
        ...scenarioFields(seed),
        policy: seed.policy,
        tool: dumps(tool ?? {}),
        conversation: transcript(conversation.messages),
        call: `${call.tool_name}(${call.arguments})`,
      });
      try {
        if (model === undefined) throw new Error("tool_simulator_model_server is not set");
        let output = "";
        let fault: string | undefined;
        for (let attempt = 0; attempt < config.generation_attempts; attempt++) {
          output = await ask(model, config.tool_simulator_responses_create_params, prompt, signal);
          fault = tool?.returns == null ? undefined : jsonFault(unfenced(output), tool.returns);
          if (fault === undefined) break;
        }
        conversation.execute(call, output, fault === undefined);
        return { output, schema_valid: fault === undefined, error: fault ?? null };
      } catch (error) {
        signal.throwIfAborted();
        conversation.unreachable = errorMessage(error);
        conversation.fail("message_generation_error", "tool_failure");
        return faulty(conversation.unreachable);
      }
    },
  };
}

/** The answer to a call that did not reach a tool. */
export const faulty = (error: string) => ({ output: { error }, schema_valid: false, error });

export function scenarioFields({ customer_scenario: scenario }: Seed) {
  return {
    persona: scenario.customer_persona ?? "",
    reason: scenario.reason_for_contact ?? "",
    details: scenario.customer_details ?? "",
    unknown: scenario.unknown_info ?? "",
    instructions: scenario.task_instructions ?? "",
  };
}

/** A conversation as text; each message begins with who it is from. */
export function transcript(messages: readonly Message[]): string {
  return messages.map(line).join("\n") || "(nothing was said yet)";
}

export function line(message: Message): string {
  if (message.type === "text")
    return `${message.source === "user" ? "Customer" : "Representative"}: ${message.content}`;
  if (message.type === "tool_call")
    return `Representative calls ${message.tool_name} [${message.tool_call_id}]: ${message.arguments}`;
  return `${message.tool_name} [${message.tool_call_id}] answers: ${message.content}`;
}

/** The content of a fence around the whole text. */
function unfenced(text: string): string {
  return /^```(?:json)?\s*\n(.*?)\n?```$/s.exec(strip(text))?.[1] ?? text;
}
