import type { ChatCompletion } from "../schemas/chat-types.ts";
import type { Response, ResponseCreateParams } from "../schemas/responses.ts";
import { responseEnvelope } from "../stream/response-envelope.ts";
import { badValue } from "./conversion-loss.ts";
import { assistantMessageToItems, type ChatToItemsOptions } from "./convert-chat-to-items.ts";
import { usageFromChat } from "./usage.ts";

const INCOMPLETE_REASONS = new Map(
  Object.entries({
    length: "max_output_tokens",
    content_filter: "content_filter",
  }),
);

/** Turns a chat endpoint's answer into a Response; only the first choice is read, the request's settings are echoed. */
export function convertChatCompletion(
  completion: ChatCompletion,
  request: ResponseCreateParams,
  options: ChatToItemsOptions = {},
): Response {
  const choice = completion.choices[0] ?? badValue("the completion has no choices");
  if (completion.choices.length > 1) {
    options.onLoss?.({ field: "choices", reason: "only the first choice becomes a response" });
  }
  const usage = usageFromChat(completion.usage);
  if (completion.usage != null && usage === null) {
    options.onLoss?.({ field: "usage", reason: "it does not say how many tokens went in and came out" });
  }
  const reason = INCOMPLETE_REASONS.get(choice.finish_reason ?? "");
  return {
    ...responseEnvelope(request, { createdAt: completion.created, newId: options.newId }),
    output: assistantMessageToItems(choice.message, options),
    incomplete_details: reason === undefined ? null : { reason },
    status: reason === undefined ? "completed" : "incomplete",
    usage,
  };
}
