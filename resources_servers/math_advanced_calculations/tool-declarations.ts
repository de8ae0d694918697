import { calculators } from "./calculators.ts";

export interface ToolDeclaration {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/** The calculators as the `tools` of a row. */
export function toolDeclarations(): ToolDeclaration[] {
  return Object.entries(calculators).map(([name, { description, parameters }]) => ({
    type: "function",
    name,
    description,
    parameters: {
      type: "object",
      properties: Object.fromEntries(
        parameters.map(([key, text]) => [key, { type: "number", description: text }]),
      ),
      required: parameters.map(([key]) => key),
      additionalProperties: false,
    },
    strict: true,
  }));
}
