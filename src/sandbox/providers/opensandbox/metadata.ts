import type { OpenSandboxSettings } from "./settings.ts";

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
