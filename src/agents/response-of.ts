import type { Usage } from "../wire/convert/usage.ts";
import { newId } from "../wire/ids.ts";
import type { Response, ResponseCreateParams, ResponseOutputItem } from "../wire/schemas/responses.ts";
import { responseEnvelope } from "../wire/stream/response-envelope.ts";

/** What a model is called where neither the config nor the row names one. */
export const DEFAULT_MODEL = "gym-policy-model";

/** What a Response says besides its items. */
export interface ResponseOfOptions {
  /** The request that is answered; its settings are echoed. */
  params: ResponseCreateParams;
  model?: string;
  /** Null: nobody counted. */
  usage?: Usage | null;
  /** Why the agent stopped before it had an answer, such as `max_steps`. */
  incompleteReason?: string | undefined;
}

/** Makes a Response of what an agent did. Verifiers read the last message, so a run without one gets an empty answer. */
export function responseOf(items: readonly ResponseOutputItem[], options: ResponseOfOptions): Response {
  const { params, usage = null, incompleteReason: reason } = options;
  const model = options.model ?? params.model ?? DEFAULT_MODEL;
  return {
    ...responseEnvelope(params, { model, createdAt: Math.floor(Date.now() / 1000) }),
    output: items.some(isAnswer) ? [...items] : [...items, messageOf("")],
    usage,
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
  } as Response;
}

export const isAnswer = (item: ResponseOutputItem | undefined): boolean => item?.type === "message";

/** A message of the assistant. */
export function messageOf(text: string): ResponseOutputItem {
  return {
    type: "message",
    id: newId("msg"),
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}
