import { existsSync, realpathSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import path from "node:path";
import { Replacement } from "../files/durable-file.ts";
import { makeDirectory } from "../files/make-directory.ts";
import { DatasetError } from "./errors.ts";

/** Text gathered before it goes to the disk. */
const FLUSH_CHARACTERS = 1 << 20;

/** A text file written in large pieces. With `atomic` it appears under its name only when it is complete. */
export class OutputFile {
  readonly path: string;
  private readonly replacement: Replacement | undefined;
  private readonly handle: FileHandle;
  private pending = "";

  private constructor(target: string, replacement: Replacement | undefined, handle: FileHandle) {
    this.path = target;
    this.replacement = replacement;
    this.handle = handle;
  }

  static async create(target: string, options: { atomic?: boolean } = {}): Promise<OutputFile> {
    await refuseDirectory(target);
    await makeDirectory(path.dirname(target));
    const replacement = options.atomic ? new Replacement(target) : undefined;
    return new OutputFile(target, replacement, await openAs(target, replacement?.partial ?? target));
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
    await this.replacement?.commit();
  }

  /** Closes the file after a failure: the written part stays, but not under the name of a complete file. */
  async abandon(): Promise<void> {
    await this.flush();
    await this.handle.close();
    await this.replacement?.discard();
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

/** The path of a file beside `file`, named after it: without its extension, with `ending`. A last dot begins no extension. */
export function besidePath(file: string, ending: string): string {
  const name = path.basename(file);
  const dot = name.lastIndexOf(".");
  const stem = dot > 0 && dot < name.length - 1 ? name.slice(0, dot) : name;
  return path.join(path.dirname(file), `${stem}${ending}`);
}

/** A file that is read, and what a message calls it. */
interface SourceFile {
  file: string;
  description: string;
}

/** Fails where an output would take the place of a file that is read, also by way of a link. */
export function refuseOverwriting(
  sources: readonly SourceFile[],
  outputs: readonly string[],
  { cwd, advice }: { cwd: string; advice: string },
): void {
  const known = new Map(sources.map(({ file, description }) => [realPath(file), description]));
  for (const output of outputs) {
    const description = known.get(realPath(output));
    if (description === undefined) continue;
    throw new DatasetError(
      "DATASET_OUTPUT_OVERWRITES_SOURCE",
      `The output '${path.relative(cwd, output)}' is ${description}. ${advice}`,
    );
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // A file that does not exist yet: its directory may still be a link.
    const parent = path.dirname(file);
    return existsSync(parent) ? path.join(realpathSync(parent), path.basename(file)) : path.resolve(file);
  }
}
