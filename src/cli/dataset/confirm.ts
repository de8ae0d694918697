import { createInterface } from "node:readline";
import type { DatasetContext } from "./context.ts";

/** Asks on the terminal; only `y` and `yes` mean yes. Undefined when the input ends without an answer. */
export async function confirm(
  context: DatasetContext,
  { question, json }: { question: string; json?: boolean },
): Promise<boolean | undefined> {
  const { stdin } = context.io;
  const screen = json ? context.io.stderr : context.io.stdout;
  screen.write(`${question} [y/N]: `);
  if (stdin === undefined) {
    screen.write("\n");
    return undefined;
  }
  const lines = createInterface({ input: stdin });
  try {
    const answer = await firstLine(lines, context.signal);
    if (answer === undefined) screen.write("\n");
    return answer === undefined ? undefined : ["y", "yes"].includes(answer.trim().toLowerCase());
  } finally {
    lines.close();
  }
}

function firstLine(
  lines: ReturnType<typeof createInterface>,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(undefined));
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
