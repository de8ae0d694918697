import { constants, createWriteStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { errorMessage } from "../errors.ts";
import { SandboxTransferError } from "./errors.ts";
import type { SandboxExecResult } from "./provider.ts";

/** Program, arguments and streams of one transfer inside a sandbox. */
export interface TransferCommand {
  argv: readonly string[];
  stdin?: Readable | string | Uint8Array;
  stdoutTo?: Writable;
}

type Run = (command: TransferCommand) => Promise<SandboxExecResult>;

/** Writes a file of this machine into a sandbox, making directories as needed. */
export async function uploadWith(run: Run, source: string, target: string): Promise<void> {
  const unreadable = (error: unknown) =>
    new SandboxTransferError(`'${source}' could not be read: ${errorMessage(error)}`, { cause: error });
  // Opening a pipe would otherwise wait for somebody to write to it.
  const file = await open(source, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(error);
  });
  try {
    if (!(await file.stat()).isFile()) throw unreadable(new Error("it is not a regular file"));
    const stdin = file.createReadStream({ autoClose: false });
    let failure: unknown;
    stdin.once("error", (error) => {
      failure = error;
    });
    await writeWith(run, stdin, target);
    if (failure !== undefined) throw unreadable(failure);
  } finally {
    await file.close();
  }
}

/** Writes a file in a sandbox, making directories as needed. Paths are arguments, never part of a script. */
export async function writeWith(
  run: Run,
  content: Readable | string | Uint8Array,
  target: string,
): Promise<void> {
  const script = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"';
  const result = await run({ argv: ["/bin/sh", "-c", script, "sh", target], stdin: content });
  if (result.return_code !== 0)
    throw new SandboxTransferError(
      `'${target}' could not be written in the sandbox: ${(result.stderr ?? "").trim()}`,
    );
}

/**
 * Reads a file of a sandbox. What is read is a stream of bytes and so no link, device or directory that could mean something
 * else out here.
 */
export async function downloadWith(
  run: Run,
  source: string,
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(path.dirname(path.resolve(target)), { recursive: true });
  const file = createWriteStream(target);
  const written = finished(file);
  // A failed write is handled below; until then there is no listener.
  written.catch(() => undefined);
  try {
    const argv = ["/bin/sh", "-c", 'exec cat -- "$1"', "sh", source];
    const result = await run({ argv, stdoutTo: file });
    file.end();
    await written;
    if (result.output_truncated) throw new SandboxTransferError("it is larger than allowed");
    if (result.return_code !== 0) throw new SandboxTransferError((result.stderr ?? "").trim());
  } catch (error) {
    file.destroy();
    await rm(target, { force: true });
    signal?.throwIfAborted();
    throw new SandboxTransferError(`'${source}' could not be read from the sandbox: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
