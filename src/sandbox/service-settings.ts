import { z } from "zod";
import type { RetryBudget } from "../calls/retry.ts";
import { DEFAULT_OUTPUT_BYTES, seconds } from "./provider-settings.ts";

/** How calls after the creation are retried and limited; keys of the original that mean nothing here are accepted. */
export const operationSettings = z
  .looseObject({
    retries: z.number().int().nonnegative().default(3),
    retry_delay_s: z.number().nonnegative().default(1),
    retry_max_delay_s: z.number().nonnegative().default(15),
    /** What the service gets on top of a command's own time. */
    command_timeout_margin_s: z.number().nonnegative().default(60),
    file_timeout_s: seconds.nullable().default(1800),
    close_timeout_s: seconds.nullable().default(60),
    max_output_bytes: z.number().int().positive().default(DEFAULT_OUTPUT_BYTES),
    /** Between two looks at a sandbox that is being made. */
    poll_s: seconds.default(1),
  })
  .prefault({});

export const serviceCreateSettings = {
  timeout_s: z.number().positive().default(600),
  retries: z.number().int().nonnegative().default(2),
  retry_delay_s: z.number().nonnegative().default(1),
  retry_max_delay_s: z.number().nonnegative().default(30),
};

interface RetrySettings {
  retries: number;
  retry_delay_s: number;
  retry_max_delay_s: number;
}

export function retryBudget({ retries, retry_delay_s, retry_max_delay_s }: RetrySettings): RetryBudget {
  return {
    attempts: retries + 1,
    wallClockMs: null,
    baseDelayMs: retry_delay_s * 1000,
    maxDelayMs: retry_max_delay_s * 1000,
  };
}
