import { isObject } from "../../base/python/json/door.ts";
import { responseEnvelope, type Usage } from "../../wire/convert/door.ts";
import { newId } from "../../wire/door.ts";
import type { Response, ResponseCreateParams, ResponseOutputItem } from "../../wire/schemas/door.ts";
import { rolloutPrefix } from "../calls/rollout-id.ts";
import type { ServerClient } from "../calls/server-client.ts";
import type { RolloutScope } from "../definitions/define-agent.ts";

/** The model name if neither the config nor the row has one. */
export const DEFAULT_MODEL = "gym-policy-model";

/** The fields of a Response besides its items. */
export interface ResponseOfOptions {
  /** The request. The Response repeats its settings. */
  params: ResponseCreateParams;
  model?: string;
  /** Null: not counted. */
  usage?: Usage | null;
  /** Why the agent stopped before it had an answer, such as `max_steps`. */
  incompleteReason?: string;
}

/** Creates a Response from output items. Verifiers read the last message, so a run without one gets an empty message. */
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

/** An assistant message as an output item. */
export function messageOf(text: string): ResponseOutputItem {
  return {
    type: "message",
    id: newId("msg"),
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

/** The path prefix for model calls. The model server counts calls by it even if nothing is captured. */
export function modelPrefixOf({ modelPrefix, rolloutId }: RolloutScope): string {
  return modelPrefix || rolloutPrefix(rolloutId);
}

/**
 * The usage that the model server has counted for a rollout since the last request. The model server sees every call,
 * while programs report their tokens at the end or not at all. Undefined for a request without a rollout and for model
 * servers in Python, which do not count.
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
