import { makeDirectory as make } from "../config/make-directory.ts";
import { fileError } from "./errors.ts";

/** Creates a directory and those above it; the error says what cannot be written. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    throw fileError(error, path, "write");
  }
}
