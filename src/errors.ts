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

/** One row of the error reference, docs/reference/errors.md, which is written from the tables of each folder. */
export interface ErrorCodeRow {
  code: string;
  class: string;
  when: string;
  fix: string;
}

/** The text of anything thrown, without a stack. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
