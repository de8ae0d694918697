import { errorMessage } from "../errors.ts";
import { makeDirectory } from "../files/make-directory.ts";
import { CaptureConfigError } from "./settings.ts";

/** A call waits this long for its record; a disk that hangs must not hold the run. */
const RECORD_LIMIT_MS = 30_000;

/** Settles like `work`, but rejects when that takes too long. A later result is ignored. */
export async function withinLimit<T>(work: Promise<T>, limitMs: number = RECORD_LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not written within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Makes a directory that a config key names. */
export async function makeCaptureDirectory(key: string, directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
  } catch (error) {
    throw new CaptureConfigError(`${key} '${directory}' cannot be used: ${errorMessage(error)}.`, {
      cause: error,
    });
  }
}
