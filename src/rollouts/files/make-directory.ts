import { makeDirectory as make } from "../../files/make-directory.ts";
import { fileError, RolloutFileError } from "../errors.ts";

/** Creates a directory and those above it; the error says what cannot be written. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const { code, path: taken } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && taken !== undefined) {
      const inside = taken === path ? "" : ` for '${path}'`;
      throw new RolloutFileError(
        "ROLLOUT_FILE_NOT_WRITABLE",
        path,
        `'${taken}' is a file; a directory is needed there${inside}.`,
        { cause: error },
      );
    }
    throw fileError(error, path, "write");
  }
}
