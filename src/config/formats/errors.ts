import { type ErrorTable, GymError } from "../../base/errors.ts";

/** A text does not have the expected format. */
export class FormatError extends GymError {
  constructor(format: string, message: string) {
    super("FORMAT_INVALID", `${format}: ${message}`);
  }
}

/** Codes of errors in structured answers. Verifiers give them a reward of 0. */
export const verifyErrorCodes = {
  FormatError: {
    FORMAT_INVALID: {
      when: "A text is not the YAML, TOML, XML or CSV it should be.",
      fix: "Correct the text at the named place; in a verifier it is the model's mistake.",
    },
  },
} satisfies ErrorTable;
