import type { ServerContext } from "../../calls/server-context.ts";
import type { ModelDefinition } from "../../definitions/define-model.ts";
import { convertAnthropicRequest } from "../../wire/convert/convert-anthropic-request.ts";
import type { Handler } from "../app.ts";
import { requireObject } from "./request-body.ts";

/** `GET /v1/models`: the one model behind this server, in the form of the OpenAI API. */
export function modelsRoute({ options }: ModelDefinition, server: ServerContext<unknown>): Handler {
  const config = server.config as { model?: unknown };
  const named = options.modelName?.(server.config as never) ?? config.model;
  const id = typeof named === "string" && named !== "" ? named : server.name;
  return () => ({ object: "list", data: [{ id, object: "model", created: 0, owned_by: "nemo-gym" }] });
}

/**
 * `POST /v1/messages/count_tokens`: an estimate by the tokenizer of OpenAI models over the text of the request. The tokenizer of
 * the model itself is not known here.
 */
export function countTokensRoute(): Handler {
  return async (call) => {
    const { instructions, input, tools } = convertAnthropicRequest(requireObject(call.body));
    const { countTokens } = await import("gpt-tokenizer");
    const parts = [instructions ?? "", ...textsOf(input), ...textsOf(tools)];
    return { input_tokens: countTokens(parts.filter(Boolean).join("\n")) };
  };
}

/** Every text in a value, without the names of its fields. Images and files are left out. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") {
    if (!value.startsWith("data:")) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) yield* textsOf(member);
  }
}
