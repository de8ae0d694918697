import { stat } from "node:fs/promises";
import path from "node:path";
import { closestPath } from "../../config/paths.ts";
import { RolloutFileError } from "../../rollouts/errors.ts";
import type { CommandContext } from "../command.ts";

/** A file that the user named, as an absolute path; if it is missing, the error names the flag. */
export async function rolloutFile(
  { io }: Pick<CommandContext, "io">,
  given: string,
  flag: string,
  options: { directory?: boolean } = {},
): Promise<string> {
  const absolute = path.resolve(io.cwd, given);
  const entry = await stat(absolute).catch(() => undefined);
  if (entry === undefined) {
    const close = closestPath(given, [io.cwd]);
    const hint = close === undefined ? "" : ` Did you mean '${close}'?`;
    throw new RolloutFileError(
      "ROLLOUT_FILE_MISSING",
      absolute,
      `Input file not found: '${given}' (${flag}).${hint}`,
    );
  }
  if (entry.isDirectory() && !options.directory) {
    throw new RolloutFileError("ROLLOUT_FILE_IS_DIRECTORY", absolute, `'${given}' (${flag}) is a directory.`);
  }
  return absolute;
}

/** A path as the user would write it. */
export function shownPath({ io }: Pick<CommandContext, "io">, file: string): string {
  const relative = path.relative(io.cwd, file);
  return relative === "" || relative.startsWith(`..${path.sep}..`) ? file : relative;
}
