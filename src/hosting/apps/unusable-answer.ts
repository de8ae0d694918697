import { errorMessage } from "../../errors.ts";
import { ProviderError } from "../../model-endpoint/provider-error.ts";

/**
 * Converts a model's answer. A failure is an unusable answer, not a bad request: another attempt may give
 * a better one, unless the target dialect cannot express such content.
 */
export function convertAnswer<T>(convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== "CONVERSION_UNSUPPORTED" && code !== "CONVERSION_VALUE") throw error;
    throw new ProviderError({
      class: "invalid_response",
      retryable: code === "CONVERSION_VALUE",
      message: `the model's answer cannot be used: ${errorMessage(error)}`,
      cause: error,
    });
  }
}
