import type { ResolvedConfig } from "../../config/resolve.ts";
import { type RegistryAccess, trackingAddress } from "../../datasets/hub/gitlab.ts";
import { missingRegistryAccess } from "../../datasets/locate.ts";
import type { RemoteError } from "../../remote/errors.ts";
import type { HubAccess } from "../../remote/hub-access.ts";
import { configuredAgents } from "../../run/evaluation-input.ts";
import type { CommandContext } from "../command.ts";
import { duration } from "../render/progress.ts";

/** The agents of a config with their datasets; invalid entries are reported as warnings. */
export function agentsWithDatasets(config: ResolvedConfig, { err }: CommandContext) {
  const { agents, rejected } = configuredAgents(config);
  for (const problem of rejected.flatMap(({ problems }) => problems)) err(`Warning: ${problem}`);
  return agents;
}

interface AccessValues {
  readonly hf_token?: string;
  readonly hf_endpoint?: string;
  readonly mlflow_tracking_uri?: string;
  readonly mlflow_tracking_token?: string;
}

export function hubAccess(values: AccessValues, context: CommandContext): HubAccess {
  return {
    token: given(values.hf_token) ?? given(context.env.HF_TOKEN),
    hubUrl: given(values.hf_endpoint) ?? given(context.env.HF_ENDPOINT),
    signal: context.signal,
    onRetry: announceRetry(context),
  };
}

/** The registry, or undefined when its address or key is not configured. */
export function registryAccess(values: AccessValues, context: CommandContext): RegistryAccess | undefined {
  const trackingUri = given(values.mlflow_tracking_uri) ?? given(context.env.MLFLOW_TRACKING_URI);
  const token = given(values.mlflow_tracking_token) ?? given(context.env.MLFLOW_TRACKING_TOKEN);
  if (trackingUri === undefined || token === undefined) return undefined;
  return { trackingUri, token, signal: context.signal, onRetry: announceRetry(context) };
}

export function requireRegistry(values: AccessValues, context: CommandContext): RegistryAccess {
  const access = registryAccess(values, context);
  if (access === undefined) throw missingRegistryAccess();
  return { ...access, trackingUri: trackingAddress(access) };
}

function given(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function announceRetry({ err }: CommandContext) {
  return (error: RemoteError, delayMs: number) =>
    err(`${error.message.replace(/[.\s]+$/, "")}. Retrying in ${duration(delayMs)}.`);
}
