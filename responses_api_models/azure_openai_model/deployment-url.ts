const trimmed = (endpoint: string): string => endpoint.trim().replace(/\/+$/, "");

/** Whether an endpoint is that of the newer API, which needs no version. */
export function isVersionless(endpoint: string): boolean {
  return /\/openai\/v1$/.test(trimmed(endpoint));
}

/** The base URL of a deployment: the part that Azure's own client adds to an endpoint is added where it is missing. */
export function deploymentBase(endpoint: string, deployment: string): string {
  const base = trimmed(endpoint);
  // The newer API names the deployment in the body only; whoever gives a deployment means that one.
  if (isVersionless(base) || base.includes("/deployments/")) return base;
  const root = base.endsWith("/openai") ? base : `${base}/openai`;
  return `${root}/deployments/${encodeURIComponent(deployment)}`;
}
