/** What a check found, with what it takes to see it again. */
export interface Finding {
  readonly message: string;
  /** Line of the row in the example file, from 1. */
  readonly row?: number;
  readonly policy?: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** What a check has to say. */
export interface CheckResult {
  readonly findings: readonly Finding[];
  /** Why there was nothing to check. */
  readonly skipped?: string;
  /** What was done, in a few words. */
  readonly note?: string;
}

export interface CheckReport extends CheckResult {
  readonly check: string;
  readonly status: "passed" | "failed" | "waived" | "skipped";
  /** The reason `audit.yaml` gives for a finding that stands. */
  readonly waiver?: string;
}

/** The audit of one resources server. */
export interface AuditReport {
  /** Instance name. */
  readonly server: string;
  readonly implementation: string;
  readonly config: string;
  readonly dataset: string;
  readonly rows: number;
  readonly passed: boolean;
  readonly checks: readonly CheckReport[];
  /** Waivers that no finding needed. */
  readonly unusedWaivers: readonly string[];
}

const MAX_EXCERPT = 300;
const MAX_ITEMS = 20;

/** Evidence short enough for a report: long texts and lists are cut, and say so. */
export function shorten(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length > MAX_EXCERPT
      ? `${value.slice(0, MAX_EXCERPT)}… (${value.length} characters)`
      : value;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, MAX_ITEMS).map(shorten);
    return value.length > MAX_ITEMS ? [...kept, `… (${value.length} items)`] : kept;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shorten(member)]));
}
