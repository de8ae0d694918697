import { existsSync, realpathSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import path from "node:path";
import { makeDirectory, replaceWith } from "../base/files/door.ts";
import { DatasetError } from "./errors.ts";

/** Characters to buffer before a write. */
const FLUSH_CHARACTERS = 1 << 20;

/**
 * Writes a text file. With `atomic` it appears under its name only when it is complete. Without it, the part written before
 * a failure stays.
 */
export async function writeOutput<T>(
  target: string,
  options: { atomic: boolean },
  write: (output: OutputFile) => Promise<T>,
): Promise<T> {
  await rejectDirectory(target);
  await makeDirectory(path.dirname(target));
  const writeTo = async (file: string): Promise<T> => {
    const output = new OutputFile(await openAs(target, file));
    return write(output).finally(() => output.close());
  };
  return options.atomic ? replaceWith(target, writeTo) : writeTo(target);
}

/** A text file that is written in large pieces. */
export class OutputFile {
  readonly #handle: FileHandle;
  #pending = "";

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Adds text. Resolves at once unless the buffer is full. */
  async write(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= FLUSH_CHARACTERS) await this.#flush();
  }

  /** Writes the remaining text and closes the file. */
  async close(): Promise<void> {
    await this.#flush().finally(() => this.#handle.close());
  }

  async #flush(): Promise<void> {
    const text = this.#pending;
    this.#pending = "";
    await this.#handle.writeFile(text);
  }
}

/** Opens `writtenTo` for writing. Errors name `target`. */
async function openAs(target: string, writtenTo: string): Promise<FileHandle> {
  try {
    return await open(writtenTo, "w");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).path === writtenTo) Object.assign(error as Error, { path: target });
    throw error;
  }
}

/** Fails if the output is a directory, before any other work is done. */
export async function rejectDirectory(target: string): Promise<void> {
  const entry = await stat(target).catch(() => undefined);
  if (entry?.isDirectory())
    throw new DatasetError("DATASET_FILE", `The output '${target}' is a directory; name a file.`);
}

/** The path of `file` with `ending` in place of its extension. A leading or trailing dot does not start an extension. */
export function besidePath(file: string, ending: string): string {
  const name = path.basename(file);
  const dot = name.lastIndexOf(".");
  const stem = dot > 0 && dot < name.length - 1 ? name.slice(0, dot) : name;
  return path.join(path.dirname(file), `${stem}${ending}`);
}

/** Fails if an output would overwrite one of the sources, directly or through a link. */
export function assertNotOverwritingSources(
  sources: readonly { file: string; description: string }[],
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
    // The file does not exist yet, but its directory may be a link.
    const parent = path.dirname(file);
    return existsSync(parent) ? path.join(realpathSync(parent), path.basename(file)) : path.resolve(file);
  }
}
