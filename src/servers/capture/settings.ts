import { isAbsolute } from "node:path";
import { z } from "zod";
import { errorMessage, GymError } from "../../base/errors.ts";
import { makeDirectory } from "../../base/files/door.ts";
import { laxBool, laxFloat, laxInt } from "../../wire/schemas/lax.ts";

type GlobalConfig = Readonly<Record<string, unknown>>;

/** The keys that enable recording contradict each other or have invalid values. */
export class CaptureConfigError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("CAPTURE_CONFIG", message, options);
  }
}

/** Whether a run is observed: agents attribute their calls to rollouts, and model servers record them. */
export function isObserved(config: GlobalConfig): boolean {
  const value = config["observability_enabled"];
  if (typeof value === "boolean") return value;
  if (value === undefined || value === null) return false;
  const read = laxBool().safeParse(value);
  if (read.success) return read.data;
  throw new CaptureConfigError(`observability_enabled must be true or false, not ${JSON.stringify(value)}.`);
}

/** The directory for the model calls of an observed run; undefined if the run is not observed. */
export function modelCallDirectory(config: GlobalConfig): string | undefined {
  if (!isObserved(config)) return undefined;
  const directory = config["model_call_capture_dir"];
  if (typeof directory === "string" && isAbsolute(directory)) return directory;
  const given = directory === undefined || directory === null ? "it is missing" : `it is '${directory}'`;
  throw new CaptureConfigError(
    `observability_enabled needs model_call_capture_dir, an absolute directory that model servers and the collector share; ${given}. ` +
      "Add +model_call_capture_dir=/an/absolute/path.",
  );
}

const TokenCaptureBlock = z.strictObject({
  enabled: laxBool().default(false),
  all_agents: laxBool().default(false),
  dir: z.string().nullish(),
  sink: z
    .string()
    .regex(/^.+:[^:]+$/, "must be `module:Class`")
    .nullish(),
  sink_kwargs: z.record(z.string(), z.unknown()).nullish(),
  rebuild_response: laxBool().default(true),
  max_mask_fraction: laxFloat().pipe(z.number().min(0).max(1)).nullish(),
  mask_fraction_min_samples: laxInt().pipe(z.number().min(1)).default(50),
});

/** The settings of an enabled `token_id_capture` block. */
export interface TokenCaptureSettings {
  allAgents: boolean;
  /** The directory for records; undefined if a sink of the user stores them. */
  directory: string | undefined;
  sink: string | undefined;
  sinkOptions: Readonly<Record<string, unknown>>;
  rebuildResponse: boolean;
  maxMaskFraction: number | undefined;
  maskFractionMinSamples: number;
}

/** The settings of `token_id_capture`; undefined if it is absent or not enabled. Errors are reported in both cases. */
export function tokenCaptureSettings(config: GlobalConfig): TokenCaptureSettings | undefined {
  const given = config["token_id_capture"];
  if (given === undefined || given === null) return undefined;
  const parsed = TokenCaptureBlock.safeParse(given);
  if (!parsed.success) throw new CaptureConfigError(describeIssues(parsed.error), { cause: parsed.error });
  const block = parsed.data;
  if (!block.enabled) return undefined;
  return {
    allAgents: block.all_agents,
    directory: tokenDirectory(block, config["model_call_capture_dir"]),
    sink: block.sink ?? undefined,
    sinkOptions: block.sink_kwargs ?? {},
    rebuildResponse: block.rebuild_response,
    maxMaskFraction: block.max_mask_fraction ?? undefined,
    maskFractionMinSamples: block.mask_fraction_min_samples,
  };
}

function tokenDirectory(block: z.output<typeof TokenCaptureBlock>, fallback: unknown): string | undefined {
  if (block.sink) return undefined;
  const directory = block.dir ?? fallback;
  if (typeof directory === "string" && isAbsolute(directory)) return directory;
  if ((directory === undefined || directory === null) && !block.rebuild_response) return undefined;
  const given = typeof directory === "string" ? `it is '${directory}'` : "it is missing";
  throw new CaptureConfigError(
    `token_id_capture.dir must be an absolute directory that model servers and the collector share; ${given}. ` +
      "Set it, set model_call_capture_dir, or set token_id_capture.sink.",
  );
}

function describeIssues(error: z.ZodError): string {
  const known = Object.keys(TokenCaptureBlock.shape).join(", ");
  const lines = error.issues.map((issue) =>
    issue.code === "unrecognized_keys"
      ? `  - unknown ${issue.keys.map((key) => `token_id_capture.${key}`).join(", ")}; known keys: ${known}`
      : `  - ${["token_id_capture", ...issue.path].join(".")}: ${issue.message}`,
  );
  return `The block token_id_capture is not as it must be:\n${lines.join("\n")}`;
}

/** Whether training-token capture applies to the calls of an agent with this config. */
export function capturesTokens(
  settings: TokenCaptureSettings | undefined,
  agent: Readonly<Record<string, unknown>>,
): boolean {
  if (settings === undefined) return false;
  return settings.allAgents || laxBool().safeParse(agent["token_id_capture"]).data === true;
}

/** Creates the directory of a config key. */
export async function makeCaptureDirectory(key: string, directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
  } catch (error) {
    throw new CaptureConfigError(`${key} '${directory}' cannot be used: ${errorMessage(error)}.`, {
      cause: error,
    });
  }
}
