import { z } from "zod";
import { SandboxConfigError } from "./errors.ts";
import { DEFAULT_EXEC_TIMEOUT_SECONDS } from "./provider.ts";
import { describeIssues } from "./spec.ts";

/** Default limit of each output stream of a command. */
export const DEFAULT_OUTPUT_BYTES = 10 * 1024 * 1024;
const DEFAULT_CONCURRENCY = 32;

export const seconds = z.number().positive();
export const optionalSeconds = (fallback: number) => seconds.nullable().default(fallback);
export const textList = z.array(z.string()).default([]);

/** Settings of `exec` that every provider has. */
export const execSettings = {
  /** For calls that request the default of the provider; null: no limit. */
  default_timeout_s: optionalSeconds(DEFAULT_EXEC_TIMEOUT_SECONDS),
  concurrency: z.number().int().min(1).default(DEFAULT_CONCURRENCY),
  max_output_bytes: z.number().int().positive().default(DEFAULT_OUTPUT_BYTES),
};
export type ExecSettings = z.output<z.ZodObject<typeof execSettings>>;

/** The readiness probe: a command that must succeed, and print `expected`, `stable_count` times in a row. */
export function probeSettings(expected: string) {
  return z
    .strictObject({
      command: z.string().nullable().default(`printf ${expected}`),
      expected_stdout: z.string().nullable().default(expected),
      timeout_s: seconds.default(30),
      /** Null: one attempt. */
      deadline_s: seconds.nullable().default(null),
      stable_count: z.number().int().min(1).default(1),
      stable_delay_s: z.number().nonnegative().default(0),
    })
    .prefault({});
}
export type ProbeSettings = z.output<ReturnType<typeof probeSettings>>;

/** Reads the settings of a provider; `null` (a key without a value) means all defaults. */
export function readSettings<Schema extends z.ZodType>(
  provider: string,
  schema: Schema,
  settings: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(settings ?? {});
  if (!parsed.success)
    throw new SandboxConfigError(
      `The settings of sandbox provider '${provider}' do not fit: ${describeIssues(parsed.error)}.`,
    );
  return parsed.data;
}
