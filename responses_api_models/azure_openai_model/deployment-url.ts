const trimmed = (endpoint: string): string => endpoint.trim().replace(/\/+$/, "");

/** Whether an endpoint belongs to the newer API, which needs no version. */
export function isVersionless(endpoint: string): boolean {
  return /\/openai\/v1$/.test(trimmed(endpoint));
}

/** The base URL of a deployment. Adds the path that Azure's own client adds to an endpoint, if it is missing. */
export function deploymentBase(endpoint: string, deployment: string): string {
  const base = trimmed(endpoint);
  // The newer API names the deployment only in the body. A URL that contains a deployment takes precedence.
  if (isVersionless(base) || base.includes("/deployments/")) return base;
  const root = base.endsWith("/openai") ? base : `${base}/openai`;
  return `${root}/deployments/${encodeURIComponent(deployment)}`;
}
