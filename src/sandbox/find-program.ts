import { locateProgram } from "../base/door.ts";
import { SandboxUnavailableError } from "./errors.ts";

/** The full path of a program. Throws an error with `advice` if it is missing. */
export function findProgram(name: string, advice: string, env: NodeJS.ProcessEnv = process.env): string {
  const file = locateProgram(name, env);
  if (file !== undefined) return file;
  throw new SandboxUnavailableError(`The program '${name}' is not on the PATH. ${advice}`);
}
