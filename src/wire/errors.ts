import type { ErrorTable } from "../errors.ts";

/** All error codes of the model formats. */
export const openaiErrorCodes = {
  ValidationError: {
    VALIDATION_FAILED: {
      when: "A request, response or row does not fit its schema; servers answer 422 with the list in `detail`.",
      fix: "Correct the values at the places named; `loc` is the path from the outside in.",
    },
  },
  ConversionError: {
    CONVERSION_UNSUPPORTED: {
      when: "An item, part or tool has no form in the dialect of the backend.",
      fix: "Leave it out, or use a backend that speaks the Responses API itself.",
    },
    CONVERSION_VALUE: {
      when: "A value needed for the conversion is missing or has the wrong shape.",
      fix: "Correct the value named in the message.",
    },
  },
  TokenInformationError: {
    TOKEN_INFORMATION: {
      when: "An engine was asked for token ids and gave none, a part of them, or ids that contradict each other.",
      fix: "Let the engine return log-probabilities with token ids, or turn `return_token_id_information` off.",
    },
  },
  TokenSequenceError: {
    TOKEN_SEQUENCE: {
      when: "The token ids of a rollout cannot be trained on: its calls do not continue each other, or a list is missing or too short.",
      fix: "Export with `--token-drift fork` or `truncate`, or let the engine keep the tokens of earlier turns.",
    },
  },
  SseError: {
    SSE_LIMIT: {
      when: "An event of a stream is longer than the limit.",
      fix: "Check the endpoint; a stream that never ends its event is broken.",
    },
  },
} satisfies ErrorTable;
