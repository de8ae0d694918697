import type { StageListener } from "../client/server-client.ts";
import { rolloutIdOf } from "../openai/rollout-id.ts";
import type { RouteCall } from "./app.ts";
import type { ServerContext } from "./context.ts";
import type { RolloutScope } from "./define-agent.ts";
import type { JsonObject } from "./definitions.ts";
import { rolloutPrefix } from "./rollout-prefix.ts";

const ignoreStage: StageListener = () => {};

/** The rollout a `/run` row belongs to; its calls carry a prefix only when something listens for it. */
export function rolloutScopeOfRow(
  row: JsonObject,
  server: ServerContext<unknown>,
  onStage: StageListener = ignoreStage,
): RolloutScope {
  const rolloutId = rolloutIdOf(row);
  if (rolloutId === undefined) return { prefix: "", onStage };
  const observed = server.globalConfig["observability_enabled"] === true;
  const tokenCapture = capturesTokens(server);
  if (!observed && !tokenCapture) return { rolloutId, prefix: "", onStage };
  return { rolloutId, prefix: rolloutPrefix(rolloutId, { tokenCapture }), onStage };
}

/** The rollout a prefixed `/v1/responses` path names; the prefix goes on to the servers it calls. */
export function rolloutScopeOfPath(
  call: Pick<RouteCall, "rolloutId" | "tokenCapture" | "onStage">,
): RolloutScope {
  const { rolloutId, tokenCapture, onStage = ignoreStage } = call;
  if (rolloutId === undefined) return { prefix: "", onStage };
  return { rolloutId, prefix: rolloutPrefix(rolloutId, { tokenCapture }), onStage };
}

function capturesTokens(server: ServerContext<unknown>): boolean {
  const block = server.globalConfig["token_id_capture"] as JsonObject | undefined;
  if (block?.["enabled"] !== true) return false;
  return block["all_agents"] === true || (server.config as JsonObject)["token_id_capture"] === true;
}
