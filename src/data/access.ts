import type { RegistryAccess } from "./hub/gitlab.ts";
import type { RemoteError } from "./remote/errors.ts";
import type { HubAccess } from "./remote/hub-access.ts";

/** Where the keys of a hub or registry come from, and who hears about retries. */
export interface AccessSource {
  /** The value of a config key. */
  get: (key: string) => unknown;
  env: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal | undefined;
  onNotice: (text: string) => void;
}

export function hubAccess(source: AccessSource): HubAccess {
  return {
    token: setting(source, "hf_token", "HF_TOKEN"),
    hubUrl: setting(source, "hf_endpoint", "HF_ENDPOINT"),
    signal: source.signal,
    onRetry: announceRetry(source),
  };
}

/** The registry, or undefined when its address or key is not configured. */
export function registryAccess(source: AccessSource): RegistryAccess | undefined {
  const trackingUri = setting(source, "mlflow_tracking_uri", "MLFLOW_TRACKING_URI");
  const token = setting(source, "mlflow_tracking_token", "MLFLOW_TRACKING_TOKEN");
  if (trackingUri === undefined || token === undefined) return undefined;
  return { trackingUri, token, signal: source.signal, onRetry: announceRetry(source) };
}

function setting({ get, env }: AccessSource, key: string, variable: string): string | undefined {
  const value = get(key);
  return (typeof value === "string" && value !== "" ? value : env[variable]) || undefined;
}

function announceRetry({ onNotice }: AccessSource) {
  return (error: RemoteError, delayMs: number) =>
    onNotice(
      `${error.message.replace(/[.\s]+$/, "")}. Retrying in ${(delayMs / 1000).toFixed(delayMs < 10_000 ? 1 : 0)} s.`,
    );
}
