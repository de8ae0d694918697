import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../files/make-directory.ts";
import { DatasetError } from "./errors.ts";

/** Text gathered before it goes to the disk. */
const FLUSH_CHARACTERS = 1 << 20;

/** A text file written in large pieces. With `atomic` it appears under its name only when it is complete. */
export class OutputFile {
  readonly path: string;
  private readonly writtenTo: string;
  private readonly handle: FileHandle;
  private pending = "";

  private constructor(target: string, writtenTo: string, handle: FileHandle) {
    this.path = target;
    this.writtenTo = writtenTo;
    this.handle = handle;
  }

  static async create(target: string, options: { atomic?: boolean } = {}): Promise<OutputFile> {
    await refuseDirectory(target);
    await makeDirectory(path.dirname(target));
    const writtenTo = options.atomic ? `${target}.${process.pid}.tmp` : target;
    return new OutputFile(target, writtenTo, await openAs(target, writtenTo));
  }

  /** Adds text; resolves at once unless a piece is full. */
  async write(text: string): Promise<void> {
    this.pending += text;
    if (this.pending.length >= FLUSH_CHARACTERS) await this.flush();
  }

  /** Writes the remaining text and closes the file. */
  async finish(): Promise<void> {
    await this.flush();
    await this.handle.close();
    if (this.writtenTo !== this.path) await rename(this.writtenTo, this.path);
  }

  /** Closes the file after a failure: the written part stays, but not under the name of a complete file. */
  async abandon(): Promise<void> {
    await this.flush();
    await this.handle.close();
    if (this.writtenTo !== this.path) await rm(this.writtenTo, { force: true });
  }

  private async flush(): Promise<void> {
    if (this.pending === "") return;
    const text = this.pending;
    this.pending = "";
    await this.handle.writeFile(text);
  }
}

/** Opens a file for writing; a failure names the file it stands for. */
async function openAs(target: string, writtenTo: string): Promise<FileHandle> {
  try {
    return await open(writtenTo, "w");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).path === writtenTo) Object.assign(error as Error, { path: target });
    throw error;
  }
}

/** Fails where a file is to be written under the name of a directory, before any work is done for it. */
export async function refuseDirectory(target: string): Promise<void> {
  const entry = await stat(target).catch(() => undefined);
  if (entry?.isDirectory())
    throw new DatasetError("DATASET_FILE", `The output '${target}' is a directory; name a file.`);
}
