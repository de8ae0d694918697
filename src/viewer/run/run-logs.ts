import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { LogAnswer } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";
import { readBlocks } from "../index/blocks.ts";

/** Bytes read from the end of a log. */
const TAIL_BYTES = 4 * 1024 * 1024;
const MAX_LINES = 1000;
const LOG_NAME = /^[\w.-]{1,200}\.log$/;

/**
 * The logs of the run's servers and sandboxes, those that mention a rollout first. For one log, the lines that mention
 * it, or the last lines if none does. Default: the first log.
 */
export async function readLogs(
  folder: string,
  wanted: { name?: string; rollout?: string },
): Promise<LogAnswer> {
  const { rollout } = wanted;
  const names = (await readdir(folder).catch(() => [])).filter((name) => LOG_NAME.test(name)).sort();
  // Only listed names become paths.
  if (wanted.name !== undefined && !names.includes(wanted.name))
    throw new ViewerRequestError(404, `There is no log '${wanted.name}'.`);
  const own = new Map<string, string[]>();
  if (rollout !== undefined)
    for (const name of names) own.set(name, await linesThatName(path.join(folder, name), rollout));
  const logs = await Promise.all(
    names.map(async (name) => ({
      name,
      bytes: (await stat(path.join(folder, name)).catch(() => undefined))?.size ?? 0,
      rollout_lines: own.get(name)?.length ?? 0,
    })),
  );
  logs.sort((a, b) => b.rollout_lines - a.rollout_lines || Number(b.bytes > 0) - Number(a.bytes > 0));
  const name = wanted.name ?? logs[0]?.name;
  if (name === undefined) return { logs, name: null, lines: [], matched: false };
  const found = own.get(name) ?? [];
  if (found.length > 0) return { logs, name, lines: found, matched: true };
  const lines = (await tail(path.join(folder, name))).split("\n").filter((line) => line !== "");
  return { logs, name, lines: lines.slice(-MAX_LINES), matched: false };
}

/** The last lines that mention a rollout, as `[3-1]`, in the whole file. */
async function linesThatName(file: string, rollout: string): Promise<string[]> {
  const found: string[] = [];
  const handle = await open(file, "r");
  try {
    for await (const { bytes, lines } of readBlocks(handle, 0)) {
      if (!bytes.includes(rollout)) continue;
      for (const { from, to } of lines) {
        const line = bytes.toString("utf8", from, to);
        if (mentions(line, rollout)) found.push(line);
      }
      if (found.length > MAX_LINES) found.splice(0, found.length - MAX_LINES);
    }
  } finally {
    await handle.close();
  }
  return found;
}

/** Whether a line mentions the rollout `3-1`, or an attempt at it (`3-1-a1`), as a separate word. */
function mentions(line: string, rollout: string): boolean {
  for (let at = line.indexOf(rollout); at !== -1; at = line.indexOf(rollout, at + 1)) {
    const after = line.slice(at + rollout.length).replace(/^-a\d+/, "");
    if (!/[\w-]/.test(line[at - 1] ?? "") && !/^[\w-]/.test(after)) return true;
  }
  return false;
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
