import { type ErrorTable, GymError } from "../errors.ts";

/** Text that is not in the format it should be in. */
export class FormatError extends GymError {
  constructor(format: string, message: string) {
    super("FORMAT_INVALID", `${format}: ${message}`);
  }
}

/** Codes of reading structured answers; verifiers turn them into a reward of 0. */
export const verifyErrorCodes = {
  FormatError: {
    FORMAT_INVALID: {
      when: "A text is not the YAML, TOML, XML or CSV it should be.",
      fix: "Correct the text at the place named; in a verifier it is the model's mistake.",
    },
  },
} satisfies ErrorTable;
