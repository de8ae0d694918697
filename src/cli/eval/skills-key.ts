import type { Key } from "../../base/config-key.ts";

/** The config key with the skills of a run. */
export const skills = {
  type: "dict",
  help: "skills.path: a directory of skills offered to the agent",
} as const satisfies Key;

/** The directory of the skills; undefined without one. */
export function skillsPath(given: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const path = given?.["path"];
  return typeof path === "string" ? path : undefined;
}
