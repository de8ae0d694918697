import type { ErrorTable } from "../errors.ts";

export const telemetryErrorCodes = {
  GymError: {
    TELEMETRY_SETTINGS: {
      when: "A key of the `telemetry` block, or a variable with the same meaning, has a value that cannot be used.",
      fix: "Set one of the values that the message names, or remove the key.",
    },
  },
} satisfies ErrorTable;
