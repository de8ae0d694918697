import type { LoopLag } from "../../servers/hosting/door.ts";

/** A message about event loop lag, with a remedy. */
export function lagText({ lagMs, server, path, heldMs }: LoopLag): string {
  const lag = `The event loop lagged ${Math.round(lagMs)} ms`;
  if (server === undefined)
    return `${lag}: a server computes after an await. With ++hosting=process the server is named.`;
  const pool = path === "/verify" ? 'Move the work off the loop (verifyIn: "pool") or give' : "Give";
  return `${lag}; ${server} ${path} computed for ${Math.round(heldMs)} ms. ${pool} the server a process (hosting: process). This is said once per server.`;
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
