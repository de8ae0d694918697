import { SandboxSpecError } from "./errors.ts";

/** Refuses a zero byte: other programs take it as the end of a word, so what follows would become a word of its own. */
export function refuseZeroByte(text: string, what: string): string {
  if (text.includes("\0")) throw new SandboxSpecError(`${what} has a zero byte.`);
  return text;
}

/** Checks environment variables, which end up in arguments and files of other programs. */
export function checkEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new SandboxSpecError(`'${name}' cannot be the name of an environment variable.`);
    refuseZeroByte(value, `The value of the environment variable '${name}'`);
  }
}

/** One word of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
