/** Routes that tell whether a server answers, with the names that load balancers and Kubernetes use. */
export const PROBE_PATHS = ["/", "/health", "/healthz", "/livez", "/readyz"];
