import { errorMessage, GymError } from "nemo-gym";
import { type Provider, withDeadline } from "nemo-gym/models";

const CHECK_TIMEOUT_MS = 5_000;
const OLDEST_SAFE = [1, 83, 0] as const;
/** These releases steal credentials (supply chain incident of March 2026). */
const COMPROMISED = new Set(["1.82.7", "1.82.8"]);
const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-stable(?:\.patch\.\d+)?|\.post\d+)?$/;

/** Asks a proxy for its version and refuses to use one that is not known to be safe. */
export async function checkProxyVersion(provider: Provider): Promise<void> {
  let version: unknown;
  try {
    const ask = (signal: AbortSignal) =>
      provider.call({
        method: "GET",
        path: "/health/readiness/details",
        besideBase: true,
        once: true,
        signal,
        read: (body) => (body as { litellm_version?: unknown } | null)?.litellm_version,
      });
    version = (await withDeadline(CHECK_TIMEOUT_MS, undefined, ask)).value;
  } catch (error) {
    throw refusal(`the version of the LiteLLM proxy cannot be found out: ${errorMessage(error)}`, error);
  }
  if (typeof version !== "string" || version === "")
    throw refusal("the LiteLLM proxy does not tell its version");
  const problem = versionProblem(version);
  if (problem) throw refusal(problem);
}

/** The reason why a version must not be used; undefined if it may be used. */
export function versionProblem(version: string): string | undefined {
  const match = VERSION.exec(version.trim());
  if (!match) return `the LiteLLM proxy tells a version that cannot be judged ('${version.slice(0, 40)}')`;
  const parts = match.slice(1, 4).map(Number);
  if (COMPROMISED.has(parts.join("."))) {
    return `the LiteLLM proxy runs ${version}, which steals credentials; install ${OLDEST_SAFE.join(".")} or later and change the keys it has seen`;
  }
  for (const [index, least] of OLDEST_SAFE.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return undefined;
    if (part < least) return `the LiteLLM proxy runs ${version}; ${OLDEST_SAFE.join(".")} or later is needed`;
  }
  return undefined;
}

function refusal(message: string, cause?: unknown): GymError {
  return new GymError("LITELLM_VERSION", `${message[0]?.toUpperCase()}${message.slice(1)}.`, { cause });
}
