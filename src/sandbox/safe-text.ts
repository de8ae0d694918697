import { SandboxSpecError } from "./errors.ts";

/** Rejects a zero byte. It ends a word in other programs, so the text after it would become another word. */
export function rejectZeroByte(text: string, what: string): string {
  if (text.includes("\0")) throw new SandboxSpecError(`${what} has a zero byte.`);
  return text;
}

/** Checks environment variables, which become arguments and files of other programs. */
export function checkEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new SandboxSpecError(`'${name}' cannot be the name of an environment variable.`);
    rejectZeroByte(value, `The value of the environment variable '${name}'`);
  }
}
