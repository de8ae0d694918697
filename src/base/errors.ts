/** Base class of all errors of this package. `code` is stable and documented in docs/reference/errors.md. */
export class GymError extends Error {
  readonly code: string;
  /** A sentence that tells the user what to do. */
  readonly remedy?: string | undefined;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The error codes of a folder, by error class. docs/reference/errors.md is generated from these tables. */
export type ErrorTable = Readonly<Record<string, Readonly<Record<string, { when: string; fix: string }>>>>;

/** The codes of a table. */
export type CodesOf<Table extends ErrorTable> = {
  [Class in keyof Table]: keyof Table[Class] & string;
}[keyof Table];

/** The message of a thrown value, without the stack. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Error codes that several folders use. */
export const baseErrorCodes = {
  GymError: {
    PACKAGE_MISSING: {
      when: "A function needs an npm package that is not installed, because few users need it.",
      fix: "Install the package that the message names where nemo-gym is installed.",
    },
  },
} satisfies ErrorTable;
