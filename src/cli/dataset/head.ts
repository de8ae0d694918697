import { readLines, readRow } from "../../datasets/lines.ts";
import { errorMessage } from "../../errors.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { refuseSurplusWords } from "../overrides.ts";
import { rootedFile, withFileErrors } from "./input-file.ts";
import { formatRow } from "./row-view.ts";

const DEFAULT_ROWS = 5;

export interface HeadFlags {
  readonly rows: string | undefined;
  readonly skip: string | undefined;
  readonly full: boolean;
  readonly json: boolean;
}

/** `gym dataset head`. */
export async function showRows(context: CommandContext, name: string, flags: HeadFlags): Promise<number> {
  const count = wholeNumber("--rows/-n", flags.rows, DEFAULT_ROWS);
  const skip = wholeNumber("--skip", flags.skip, 0);
  const json = flags.json || context.json;
  refuseSurplusWords(context);
  return withFileErrors(async () => {
    const file = await rootedFile(context, name, "FILE");
    let line = 0;
    let broken = 0;
    for await (const text of readLines(file, { signal: context.signal })) {
      line++;
      if (line <= skip) continue;
      if (line > skip + count) break;
      if (!json) context.out(formatLine(text, { name, line }, context, flags.full));
      else if (!printJson(text, `${name}:${line}`, context)) broken++;
    }
    if (line <= skip && !json) context.out(`${name} has ${line} rows.`);
    return broken === 0 ? 0 : 1;
  });
}

/** Prints a row unchanged; reports a line that is not a row on stderr. */
function printJson(text: string | null, where: string, context: CommandContext): boolean {
  try {
    readRow(text, where);
  } catch (error) {
    context.err(`${context.terminal.red("Error:")} ${errorMessage(error)}`);
    return false;
  }
  context.out(text ?? "");
  return true;
}

function formatLine(
  text: string | null,
  { name, line }: { name: string; line: number },
  context: CommandContext,
  full: boolean,
): string {
  const { terminal } = context;
  const heading = terminal.bold(`── row ${line} ${"─".repeat(Math.max(4, 60 - String(line).length))}`);
  try {
    return `${heading}\n${formatRow(readRow(text, `${name}:${line}`), { full, terminal })}\n`;
  } catch (error) {
    return `${heading}\n${terminal.red(errorMessage(error))}\n`;
  }
}

function wholeNumber(flag: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new UsageError(`argument ${flag}: '${given}' is not a whole number`);
}
