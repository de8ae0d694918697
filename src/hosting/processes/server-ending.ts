import type { ServerMessage } from "./messages.ts";

/** Ends the process of a server after a fatal event and reports the reason to its parent. */
export function endBecause(message: string, exitCode = 1): void {
  console.error(message);
  if (!process.connected) process.exit(exitCode);
  const ending: ServerMessage = { type: "ending", message };
  process.send?.(ending, () => process.exit(exitCode));
}

/** How a process has ended, in words that follow its name. */
export function exitText(code: number | null, signal: string | null): string {
  return signal ? `was killed by ${signal}` : `ended with code ${code}`;
}
