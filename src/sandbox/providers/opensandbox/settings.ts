import { z } from "zod";
import { execSettings, probeSettings, seconds } from "../../provider-settings.ts";
import { operationSettings, serviceCreateSettings } from "../../service-settings.ts";

const READY = "nemo-gym-sandbox-ready";

/** Settings of `sandbox: {opensandbox: …}`. */
export const openSandboxSettings = z.strictObject({
  connection: z
    .looseObject({
      /** Host, and port where it is not the usual one; `OPEN_SANDBOX_DOMAIN` when absent. */
      domain: z.string().nullish(),
      /** `OPEN_SANDBOX_API_KEY` when absent; a service may need none. */
      api_key: z.string().nullish(),
      protocol: z.enum(["http", "https"]).default("http"),
      request_timeout_s: seconds.default(300),
      /** Commands go through the service and not straight to the sandbox. */
      use_server_proxy: z.boolean().default(false),
    })
    .prefault({}),
  create: z
    .looseObject({
      ...serviceCreateSettings,
      /** For specs that give none: the service wants some. */
      default_cpu: z.number().positive().default(1),
      default_memory_mib: z.number().int().positive().default(2048),
      /** `deny` (no network) unless the provider options have a policy of their own; `allow` sets none. */
      network: z.enum(["deny", "allow"]).default("deny"),
    })
    .prefault({}),
  exec: z.looseObject(execSettings).prefault({}),
  probe: probeSettings(`printf ${READY}`, READY),
  operations: operationSettings,
  attribution: z
    .looseObject({
      enabled: z.boolean().default(true),
      /** Before the names of attribution in the metadata, which become labels. */
      key_prefix: z.string().default("nemo-gym.nvidia.com/"),
    })
    .prefault({}),
});
export type OpenSandboxSettings = z.output<typeof openSandboxSettings>;

const ATTRIBUTION = new Set(["team", "user", "workload", "run"]);
const MAX_VALUE_CHARACTERS = 63;

/** Metadata becomes labels, which have rules: attribution gets its prefix, and values lose what labels cannot hold. */
export function labelsOf(
  metadata: Readonly<Record<string, string>>,
  { enabled, key_prefix: prefix }: OpenSandboxSettings["attribution"],
): Record<string, string> {
  const slashed = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return Object.fromEntries(
    Object.entries(metadata)
      .filter(([key]) => enabled || !ATTRIBUTION.has(key))
      .map(([key, value]) => [ATTRIBUTION.has(key) ? `${slashed}${key}` : key, labelValue(value)]),
  );
}

export function labelValue(value: string): string {
  const allowed = value.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, MAX_VALUE_CHARACTERS);
  return allowed.replace(/^[^A-Za-z0-9]+/, "").replace(/[^A-Za-z0-9]$|[^A-Za-z0-9]+$/, "");
}
