import type { StageListener } from "../calls/server-client.ts";
import type { ServerContext } from "../calls/server-context.ts";
import { capturesTokens, isObserved, tokenCaptureSettings } from "../capture/settings.ts";
import type { RolloutScope } from "../definitions/define-agent.ts";
import type { JsonObject } from "../python/json/json-object.ts";
import { rolloutIdOf } from "../wire/rollout-id.ts";
import { rolloutPrefix } from "../wire/rollout-prefix.ts";
import type { RouteCall } from "./app.ts";

const ignoreStage: StageListener = () => {};

/** How the calls of an agent are attributed to rollouts; read from the config once. */
export interface Attribution {
  observed: boolean;
  tokenCapture: boolean;
}

export function attributionOf(server: ServerContext<unknown>): Attribution {
  const tokens = tokenCaptureSettings(server.globalConfig);
  return {
    observed: isObserved(server.globalConfig),
    tokenCapture: capturesTokens(tokens, server.config as JsonObject),
  };
}

/** The rollout a `/run` row belongs to; its calls carry a prefix only when something listens for it. */
export function rolloutScopeOfRow(
  row: JsonObject,
  { observed, tokenCapture }: Attribution,
  onStage: StageListener = ignoreStage,
): RolloutScope {
  const rolloutId = rolloutIdOf(row);
  if (rolloutId === undefined || (!observed && !tokenCapture)) return unattributed(rolloutId, onStage);
  return attributed(rolloutId, tokenCapture, onStage);
}

/** The rollout a prefixed `/v1/responses` path names; the prefix goes on to the servers it calls. */
export function rolloutScopeOfPath(
  call: Pick<RouteCall, "rolloutId" | "tokenCapture" | "onStage">,
): RolloutScope {
  const { rolloutId, tokenCapture, onStage = ignoreStage } = call;
  if (rolloutId === undefined) return unattributed(undefined, onStage);
  return attributed(rolloutId, tokenCapture, onStage);
}

function unattributed(rolloutId: string | undefined, onStage: StageListener): RolloutScope {
  if (rolloutId === undefined) return { prefix: "", modelPrefix: "", onStage };
  return { rolloutId, prefix: "", modelPrefix: "", onStage };
}

function attributed(rolloutId: string, tokenCapture: boolean, onStage: StageListener): RolloutScope {
  const prefix = rolloutPrefix(rolloutId);
  return { rolloutId, prefix, modelPrefix: rolloutPrefix(rolloutId, { tokenCapture }), onStage };
}
