import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { LogAnswer } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";

/** Bytes read from the end of a log. */
const TAIL_BYTES = 4 * 1024 * 1024;
const MAX_LINES = 1000;
const LOG_NAME = /^[\w.-]{1,200}\.log$/;

/** The logs of the run's servers; of one of them the last lines, or those that name a rollout where any do. */
export async function readLogs(
  folder: string,
  wanted: { name?: string; rollout?: string },
): Promise<LogAnswer> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => LOG_NAME.test(name)).sort();
  const logs = await Promise.all(
    names.map(async (name) => ({
      name,
      bytes: (await stat(path.join(folder, name)).catch(() => undefined))?.size ?? 0,
    })),
  );
  const name = wanted.name ?? logs.find(({ bytes }) => bytes > 0)?.name ?? names[0];
  if (name === undefined) return { logs, name: null, lines: [], matched: false };
  // Only names that were listed become paths.
  if (!names.includes(name)) throw new ViewerRequestError(404, `There is no log '${name}'.`);
  const lines = (await tail(path.join(folder, name))).split("\n").filter((line) => line !== "");
  const { rollout } = wanted;
  const own = rollout === undefined ? [] : lines.filter((line) => mentions(line, rollout));
  const shown = own.length > 0 ? own : lines;
  return { logs, name, lines: shown.slice(-MAX_LINES), matched: own.length > 0 };
}

/** Whether a line names the rollout `3-1` as a word of its own. */
function mentions(line: string, rollout: string): boolean {
  const at = line.indexOf(rollout);
  return at !== -1 && !/[\w-]/.test(line[at - 1] ?? "") && !/[\w-]/.test(line[at + rollout.length] ?? "");
}

async function tail(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const text = buffer.toString("utf8", 0, bytesRead);
    return size > length ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    await handle.close();
  }
}
