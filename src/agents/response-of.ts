import type { ServerClient } from "../calls/server-client.ts";
import type { RolloutScope } from "../definitions/define-agent.ts";
import { isObject } from "../python/json/json-object.ts";
import type { Usage } from "../wire/convert/usage.ts";
import { newId } from "../wire/ids.ts";
import { rolloutPrefix } from "../wire/rollout-id.ts";
import type { Response, ResponseCreateParams, ResponseOutputItem } from "../wire/schemas/responses.ts";
import { responseEnvelope } from "../wire/stream/response-envelope.ts";

/** What a model is called where neither the config nor the row names one. */
export const DEFAULT_MODEL = "gym-policy-model";

/** What a Response says besides its items. */
export interface ResponseOfOptions {
  /** The request that is answered; its settings are echoed. */
  params: ResponseCreateParams;
  model?: string;
  /** Null: not counted. */
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

/**
 * What the model server counted for a rollout since it was last asked. Programs report their tokens at the end or not at all; the
 * model server has seen every call. Undefined if not counted: a request without a rollout, or a model server in Python.
 */
export async function takeRolloutUsage(
  client: ServerClient,
  modelServer: string,
  { rolloutId }: RolloutScope,
  signal: AbortSignal,
): Promise<Usage | undefined> {
  if (rolloutId === undefined) return undefined;
  const path = `${rolloutPrefix(rolloutId)}/rollout_usage`;
  const reply = await client.post(modelServer, path, {}, { signal, idempotent: true });
  const body: unknown = reply.status === 200 ? reply.json() : undefined;
  const usage = isObject(body) ? body["usage"] : undefined;
  return isObject(usage) ? (usage as unknown as Usage) : undefined;
}
