import type { ServerClient } from "../calls/server-client.ts";
import type { RolloutScope } from "../definitions/define-agent.ts";
import { isObject } from "../python/json/json-object.ts";
import type { Usage } from "../wire/convert/usage.ts";
import { rolloutPrefix } from "../wire/rollout-prefix.ts";

/**
 * What the model server counted for a rollout since it was last asked. Programs report their tokens at the end or not at all; the
 * model server has seen every call. Undefined where nobody counted: a request without a rollout, or a model server in Python.
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
