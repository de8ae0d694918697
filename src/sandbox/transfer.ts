import { constants, createWriteStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { errorMessage } from "../base/errors.ts";
import { SandboxTransferError } from "./errors.ts";
import type { Cancellable, SandboxExecResult, SandboxHandle } from "./provider.ts";

/** Program, arguments and streams of one transfer inside a sandbox. */
export interface TransferCommand {
  argv: readonly string[];
  stdin?: Readable | string | Uint8Array;
  stdoutTo?: Writable;
}

/** Base of providers that copy files by running commands in the sandbox. Paths are arguments, never part of a script. */
export abstract class TransferByCommand<Raw> {
  protected abstract transfer(
    handle: SandboxHandle<Raw>,
    command: TransferCommand,
    options: Cancellable,
  ): Promise<SandboxExecResult>;

  async uploadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    const unreadable = (error: unknown) =>
      new SandboxTransferError(`'${source}' could not be read: ${errorMessage(error)}`, { cause: error });
    // Without O_NONBLOCK, opening a named pipe waits until a process writes to it.
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
      await this.#write(handle, stdin, target, options);
      if (failure !== undefined) throw unreadable(failure);
    } finally {
      await file.close();
    }
  }

  async writeFile(
    handle: SandboxHandle<Raw>,
    target: string,
    content: string | Uint8Array,
    options: Cancellable = {},
  ): Promise<void> {
    await this.#write(handle, content, target, options);
  }

  /** Copies the bytes of a file. Links are followed inside the sandbox, so none can lead to a file of this machine. */
  async downloadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options: Cancellable = {},
  ): Promise<void> {
    await mkdir(path.dirname(path.resolve(target)), { recursive: true });
    const file = createWriteStream(target);
    const written = finished(file);
    // The await below handles a failed write. This listener only prevents an unhandled rejection before that.
    written.catch(() => undefined);
    try {
      const argv = ["/bin/sh", "-c", 'exec cat -- "$1"', "sh", source];
      const result = await this.transfer(handle, { argv, stdoutTo: file }, options);
      file.end();
      await written;
      if (result.output_truncated) throw new SandboxTransferError("it is larger than allowed");
      if (result.return_code !== 0) throw new SandboxTransferError((result.stderr ?? "").trim());
    } catch (error) {
      file.destroy();
      await rm(target, { force: true });
      options.signal?.throwIfAborted();
      throw new SandboxTransferError(
        `'${source}' could not be read from the sandbox: ${errorMessage(error)}`,
        { cause: error },
      );
    }
  }

  async aclose(): Promise<void> {
    // These providers hold nothing besides their sandboxes.
  }

  /** Creates the directories above the file as needed. */
  async #write(
    handle: SandboxHandle<Raw>,
    stdin: Readable | string | Uint8Array,
    target: string,
    options: Cancellable,
  ): Promise<void> {
    const script = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"';
    const argv = ["/bin/sh", "-c", script, "sh", target];
    const result = await this.transfer(handle, { argv, stdin }, options);
    if (result.return_code !== 0)
      throw new SandboxTransferError(
        `'${target}' could not be written in the sandbox: ${(result.stderr ?? "").trim()}`,
      );
  }
}
