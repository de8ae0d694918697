import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import { type Attributes, currentSpan, type Tracer } from "../../../base/telemetry/light-door.ts";
import type { Usage } from "../../../wire/convert/door.ts";
import type { TracedWork } from "./trace-requests.ts";

/** Names of providers in the conventions for generative AI, by the kind of model server. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai_model: "openai",
  azure_openai_model: "azure.ai.openai",
  anthropic_model: "anthropic",
  local_vllm_model: "vllm",
};

/** A call of a language model, with the attributes of the conventions for generative AI. */
export function modelCallWork(
  api: "responses" | "chat_completions" | "messages",
  implementation: string,
): TracedWork {
  const provider = PROVIDERS[implementation] ?? implementation.replace(/_model$/, "");
  const about = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider };
  const measuredOf = (attributes: Attributes): Attributes => ({
    ...about,
    "gen_ai.request.model": attributes["gen_ai.request.model"],
    "gen_ai.response.model": attributes["gen_ai.response.model"],
  });
  return {
    start(request, tracer, { body }) {
      tracer.record("gym.model.active", 1);
      const attributes = { ...about, ...requestAttributes(isObject(body) ? body : {}) };
      return request.child("model_call", `gym.model.${api}`, { kind: "client", attributes });
    },
    ended(span, tracer) {
      tracer.record("gym.model.active", -1);
      const measured = measuredOf(span.attributes);
      const seconds = span.milliseconds / 1000;
      tracer.record("gen_ai.client.operation.duration", seconds, {
        ...measured,
        "error.type": span.errorType,
      });
      recordTokens(tracer, "input", span.attributes["gen_ai.usage.input_tokens"], measured);
      recordTokens(tracer, "output", span.attributes["gen_ai.usage.output_tokens"], measured);
    },
  };
}

function recordTokens(tracer: Tracer, type: "input" | "output", count: unknown, measured: Attributes): void {
  if (typeof count === "number")
    tracer.record("gen_ai.client.token.usage", count, { ...measured, "gen_ai.token.type": type });
}

function requestAttributes(body: JsonObject): Attributes {
  const number = (...keys: string[]) =>
    keys.map((key) => body[key]).find((value): value is number => typeof value === "number");
  const { model } = body;
  return {
    "gen_ai.request.model": typeof model === "string" ? model : undefined,
    "gen_ai.request.temperature": number("temperature"),
    "gen_ai.request.top_p": number("top_p"),
    "gen_ai.request.max_tokens": number("max_output_tokens", "max_completion_tokens", "max_tokens"),
    "gen_ai.request.seed": number("seed"),
  };
}

/** Adds the answer of a model to the span of its call. */
export function noteAnswer(
  answer: { id?: unknown; model?: unknown },
  usage: Usage | null | undefined,
  contents: () => { input: unknown; output: readonly unknown[] },
): void {
  const span = currentSpan();
  if (span === undefined) return;
  const { id, model } = answer;
  // Kept without a recorded span too, because the metrics of the call read them.
  Object.assign(span.attributes, {
    "gen_ai.response.id": typeof id === "string" ? id : undefined,
    "gen_ai.response.model": typeof model === "string" ? model : undefined,
    "gen_ai.response.finish_reasons": finishReasons(answer),
    "gen_ai.usage.input_tokens": usage?.input_tokens,
    "gen_ai.usage.output_tokens": usage?.output_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.input_tokens_details?.cached_tokens || undefined,
    "gen_ai.usage.reasoning.output_tokens": usage?.output_tokens_details?.reasoning_tokens || undefined,
  });
  span.setContent(() => {
    const { input, output } = contents();
    return {
      "gen_ai.input.messages": genAiMessages(input),
      "gen_ai.output.messages": genAiMessages(output),
    };
  });
}

function finishReasons(answer: JsonObject): string[] | undefined {
  const { choices, incomplete_details: incomplete, output } = answer;
  if (Array.isArray(choices)) {
    const reasons = choices.map((choice) => (isObject(choice) ? choice["finish_reason"] : undefined));
    return reasons.filter((reason) => typeof reason === "string");
  }
  if (isObject(incomplete))
    return [incomplete["reason"] === "max_output_tokens" ? "length" : String(incomplete["reason"])];
  if (!Array.isArray(output)) return undefined;
  return [output.some((item) => isObject(item) && item["type"] === "function_call") ? "tool_calls" : "stop"];
}

/** Items of the Responses API, or chat messages, as messages of the conventions: a role and parts. */
function genAiMessages(items: unknown): JsonObject[] {
  if (typeof items === "string") return [{ role: "user", parts: [{ type: "text", content: items }] }];
  return Array.isArray(items) ? items.filter(isObject).map(genAiMessage) : [];
}

function genAiMessage(item: JsonObject): JsonObject {
  const { type, role, content, call_id: id, tool_calls: calls } = item;
  if (type === "function_call")
    return {
      role: "assistant",
      parts: [{ type: "tool_call", id, name: item["name"], arguments: item["arguments"] }],
    };
  if (type === "function_call_output")
    return { role: "tool", parts: [{ type: "tool_call_response", id, response: item["output"] }] };
  if (type === "reasoning")
    return { role: "assistant", parts: textParts(item["content"] ?? item["summary"], "reasoning") };
  if (role === "tool")
    return { role, parts: [{ type: "tool_call_response", id: item["tool_call_id"], response: content }] };
  const called = (Array.isArray(calls) ? calls : []).filter(isObject).map((call) => ({
    type: "tool_call",
    id: call["id"],
    ...(call["function"] as JsonObject | undefined),
  }));
  return { role: role ?? "assistant", parts: [...textParts(content, "text"), ...called] };
}

function textParts(content: unknown, type: "text" | "reasoning"): JsonObject[] {
  if (typeof content === "string") return [{ type, content }];
  if (!Array.isArray(content)) return [];
  // Images are named, not copied.
  return content
    .filter(isObject)
    .map((part) =>
      typeof part["text"] === "string" ? { type, content: part["text"] } : { type: part["type"] },
    );
}
