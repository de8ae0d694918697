import type { ResolvedConfig } from "../../config/door.ts";
import { missingRegistryAccess } from "../../data/door.ts";
import { type RegistryAccess, trackingAddress } from "../../data/hub/door.ts";
import {
  type AccessSource,
  hubAccess as readHubAccess,
  registryAccess as readRegistry,
} from "../../data/light-door.ts";
import type { HubAccess } from "../../data/remote/door.ts";
import { configuredAgents } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";

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

export function hubAccessOf(values: AccessValues, context: CommandContext): HubAccess {
  return readHubAccess(sourceOf(values, context));
}

/** The registry, or undefined when its address or key is not configured. */
export function registryAccessOf(values: AccessValues, context: CommandContext): RegistryAccess | undefined {
  return readRegistry(sourceOf(values, context));
}

export function requireRegistry(values: AccessValues, context: CommandContext): RegistryAccess {
  const access = registryAccessOf(values, context);
  if (access === undefined) throw missingRegistryAccess();
  return { ...access, trackingUri: trackingAddress(access) };
}

function sourceOf(values: AccessValues, { env, signal, err }: CommandContext): AccessSource {
  return { get: (key) => values[key as keyof AccessValues], env, signal, onNotice: err };
}
