import { isServerType } from "../config/servers/server-types.ts";
import type { ServerDefinition } from "./definitions.ts";

/** Whether a module's default export is a server definition (also one made by another copy of the package). */
export function isServerDefinition(value: unknown): value is ServerDefinition {
  const { type, options } = (value ?? {}) as { type?: unknown; options?: unknown };
  return isServerType(type) && typeof options === "object" && options !== null;
}
