import { createInterface } from "node:readline";
import type { CommandContext } from "./command.ts";

/** Asks on the terminal; only `y` and `yes` confirm. Undefined when the input ends without an answer. */
export async function confirm(context: CommandContext, question: string): Promise<boolean | undefined> {
  const { stdin, stdout, stderr } = context.io;
  const screen = context.json ? stderr : stdout;
  screen.write(`${question} [y/N]: `);
  const answer = stdin && (await firstLine(stdin, context.signal));
  if (answer === undefined) {
    screen.write("\n");
    return undefined;
  }
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

async function firstLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input });
  try {
    return await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(undefined));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  } finally {
    lines.close();
  }
}
