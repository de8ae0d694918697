/** The base URL of a deployment: the part that Azure's own client adds to an endpoint is added where it is missing. */
export function deploymentBase(endpoint: string, deployment: string): string {
  const base = endpoint.trim().replace(/\/+$/, "");
  // The newer API names the deployment in the body only; whoever gives a deployment means that one.
  if (/\/openai\/v1$/.test(base) || base.includes("/deployments/")) return base;
  const root = base.endsWith("/openai") ? base : `${base}/openai`;
  return `${root}/deployments/${encodeURIComponent(deployment)}`;
}
