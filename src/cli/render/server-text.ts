import type { LoopLag } from "../../hosting/guards/loop-monitor.ts";

/** What is said about a lag, in words that say what to do. */
export function lagText({ lagMs, server, path, heldMs }: LoopLag): string {
  const lag = `The event loop lagged ${Math.round(lagMs)} ms`;
  if (server !== undefined)
    return `${lag}; ${server} ${path} held it for ${Math.round(heldMs)} ms. Move the work off the loop (verifyIn: "pool") or give the server a process (hosting: process).`;
  return `${lag}: the machine is busy, or a server computes after an await. With ++hosting=process the server is named.`;
}

/** A trace without the frames of this program and of Node: those of the server's own code say where to look. */
export function ownFrames(text: string, installRoot: string): string {
  const lines = text.split("\n");
  const isOurs = (line: string) =>
    /^\s+at /.test(line) &&
    (line.includes(`${installRoot}/dist/src/`) ||
      line.includes(`${installRoot}/src/`) ||
      line.includes("node:"));
  const own = lines.filter((line) => !isOurs(line));
  // An error of our own has no other frames.
  return own.some((line) => /^\s+at /.test(line)) ? own.join("\n") : text;
}
