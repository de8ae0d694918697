import type { LoopLag } from "../../servers/hosting/guards/loop-monitor.ts";

/** A message about event loop lag, with a remedy. */
export function lagText({ lagMs, server, path, heldMs }: LoopLag): string {
  const lag = `The event loop lagged ${Math.round(lagMs)} ms`;
  if (server !== undefined)
    return `${lag}; ${server} ${path} held it for ${Math.round(heldMs)} ms. Move the work off the loop (verifyIn: "pool") or give the server a process (hosting: process).`;
  return `${lag}: the machine is busy, or a server computes after an await. With ++hosting=process the server is named.`;
}

/** A stack trace without the frames of this program and of Node, so that it shows the server's code. */
export function ownFrames(text: string, installRoot: string): string {
  const lines = text.split("\n");
  const isOurs = (line: string) =>
    /^\s+at /.test(line) &&
    (line.includes(`${installRoot}/dist/src/`) ||
      line.includes(`${installRoot}/src/`) ||
      line.includes("node:"));
  const own = lines.filter((line) => !isOurs(line));
  // An error of this program has no other frames.
  return own.some((line) => /^\s+at /.test(line)) ? own.join("\n") : text;
}
