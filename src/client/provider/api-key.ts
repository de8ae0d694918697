import { readFile } from "node:fs/promises";
import { errorMessage, GymError } from "../../errors.ts";

/** An API key, given or in a file that may be replaced while servers run. */
export class ApiKey {
  readonly #file: string | undefined;
  #value: string;

  private constructor(value: string, file: string | undefined) {
    this.#value = value;
    this.#file = file;
  }

  static async read(value: string | null | undefined, file: string | null | undefined): Promise<ApiKey> {
    if (!file) return new ApiKey(value ?? "", undefined);
    return new ApiKey(await keyIn(file), file);
  }

  get value(): string {
    return this.#value;
  }

  /** Looks whether the file holds another key by now. */
  async renew(): Promise<boolean> {
    if (this.#file === undefined) return false;
    const current = await keyIn(this.#file);
    const changed = current !== this.#value;
    this.#value = current;
    return changed;
  }

  // Whoever prints or serialises a server's state must not find the key in it.
  toJSON(): string {
    return "****";
  }
}

async function keyIn(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new GymError("PROVIDER_KEY_FILE", `The API key file cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  const key = text.trim();
  if (key === "" || /\s/.test(key)) {
    throw new GymError("PROVIDER_KEY_FILE", `The API key file ${file} must hold one key and nothing else.`);
  }
  return key;
}
