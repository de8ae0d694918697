import { GymError } from "../../errors.ts";

/** A brace template that is malformed, or asks for something the data does not have. */
export class TemplateError extends GymError {
  constructor(message: string, options?: { cause?: unknown; code?: string }) {
    super(options?.code ?? "TEMPLATE_INVALID", message, options);
  }
}

/** A template names a field that the data lacks. */
export class TemplateFieldError extends TemplateError {
  readonly field: string;

  constructor(field: string, available: string[]) {
    super(
      `The template needs the field '${field}'; the row has: ${available.length > 0 ? available.join(", ") : "no fields"}.`,
      {
        code: "TEMPLATE_FIELD_MISSING",
      },
    );
    this.field = field;
  }
}
