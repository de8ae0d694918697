/** The root of every error the gym raises on purpose; `code` is stable and documented in docs/reference/errors.md. */
export class GymError extends Error {
  readonly code: string;
  /** What the user can do about it, a sentence of its own. */
  readonly remedy?: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The error codes of a folder, by error class. docs/reference/errors.md is written from these tables. */
export type ErrorTable = Readonly<Record<string, Readonly<Record<string, { when: string; fix: string }>>>>;

/** The codes in a table. */
export type CodesOf<Table extends ErrorTable> = {
  [Class in keyof Table]: keyof Table[Class] & string;
}[keyof Table];

/** The text of anything thrown, without a stack. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
