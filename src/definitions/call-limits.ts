/** How long one call within a rollout may take; null lifts a limit. */
export interface CallLimits {
  modelCallMs: number | null;
  toolCallMs: number | null;
}

/** A trainer may pause its model for half an hour. */
const DEFAULT_MODEL_CALL_SECONDS = 3_600;
const DEFAULT_TOOL_CALL_SECONDS = 600;

/** The limits of a run: `model_call_timeout_seconds` and `tool_call_timeout_seconds` of its config. */
export function callLimits(globalConfig: Readonly<Record<string, unknown>>): CallLimits {
  return {
    modelCallMs: milliseconds(globalConfig["model_call_timeout_seconds"], DEFAULT_MODEL_CALL_SECONDS),
    toolCallMs: milliseconds(globalConfig["tool_call_timeout_seconds"], DEFAULT_TOOL_CALL_SECONDS),
  };
}

function milliseconds(value: unknown, fallback: number): number | null {
  if (value === null) return null;
  return (typeof value === "number" && value > 0 ? value : fallback) * 1000;
}
