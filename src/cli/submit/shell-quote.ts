/** Characters without a special meaning in every shell. */
const SAFE = /^[A-Za-z0-9@%+=:,./_-]+$/;

/** Quotes any text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return SAFE.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A command with every word quoted. */
export function quotedCommand(args: readonly string[]): string {
  return args.map(shellWord).join(" ");
}
