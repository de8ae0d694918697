import type { ToolSet } from "../workplace.ts";
import { analyticsTools } from "./analytics.ts";
import { calendarTools } from "./calendar.ts";
import { customerTools } from "./customers.ts";
import { directoryTools } from "./directory.ts";
import { emailTools } from "./email.ts";
import { projectManagementTools } from "./project-management.ts";

/** All 27 tools. */
export const tools: ToolSet = {
  ...directoryTools,
  ...emailTools,
  ...calendarTools,
  ...analyticsTools,
  ...projectManagementTools,
  ...customerTools,
};

export interface ToolDeclaration {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/** The tools in the format of dataset rows. */
export function toolDeclarations(): ToolDeclaration[] {
  return Object.entries(tools).map(([name, { description, parameters }]) => ({
    type: "function",
    name,
    description,
    parameters: {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(parameters).map(([key, { description, type = "string" }]) => [
          key,
          { type, description },
        ]),
      ),
      required: Object.keys(parameters).filter((key) => parameters[key]?.required === true),
      additionalProperties: false,
    },
    strict: false,
  }));
}
