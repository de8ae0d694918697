import type { ErrorTable } from "../base/errors.ts";

/** All error codes of the model formats. */
export const openaiErrorCodes = {
  ValidationError: {
    VALIDATION_FAILED: {
      when: "A request, response or row does not fit its schema; servers answer 422 with the list in `detail`.",
      fix: "Correct the named values; `loc` is the path of each value.",
    },
  },
  ConversionError: {
    CONVERSION_UNSUPPORTED: {
      when: "An item, part or tool cannot be represented in the dialect of the backend.",
      fix: "Leave it out, or use a backend with the Responses API.",
    },
    CONVERSION_VALUE: {
      when: "A value needed for the conversion is missing or has the wrong type.",
      fix: "Correct the value that the message names.",
    },
  },
  TokenInformationError: {
    TOKEN_INFORMATION: {
      when: "An engine was asked for token ids and returned none, only some of them, or inconsistent ones.",
      fix: "Let the engine return log-probabilities with token ids, or turn `return_token_id_information` off.",
    },
  },
  SseError: {
    SSE_LIMIT: {
      when: "An event of a stream is longer than the limit.",
      fix: "Check the endpoint; a stream that never ends its event is broken.",
    },
  },
} satisfies ErrorTable;
