import { readFile } from "node:fs/promises";
import { errorMessage, GymError } from "../../base/errors.ts";

/** An API key, literal or in a file that may be replaced while servers run. */
export class ApiKey {
  readonly #file: string | undefined;
  #value: string;

  private constructor(value: string, file: string | undefined) {
    this.#value = value;
    this.#file = file;
  }

  /** Removes white space around a pasted key, which no endpoint accepts. */
  static async read(
    value: string | null | undefined,
    file: string | null | undefined,
    name = "the API key",
  ): Promise<ApiKey> {
    if (!file) return new ApiKey(sendable(value?.trim() ?? "", name), undefined);
    return new ApiKey(await keyIn(file), file);
  }

  get value(): string {
    return this.#value;
  }

  /** Reads the file again. Returns whether the key has changed. */
  async renew(): Promise<boolean> {
    if (this.#file === undefined) return false;
    const current = await keyIn(this.#file);
    const changed = current !== this.#value;
    this.#value = current;
    return changed;
  }

  // The key must not appear when a server's state is printed or serialized.
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
    throw new GymError("PROVIDER_KEY_FILE", `The API key file ${file} must contain exactly one key.`);
  }
  return sendable(key, `The API key file ${file}`);
}

/** Rejects a key that is not valid in a header. The error never quotes the value. */
function sendable(key: string, name: string): string {
  const index = [...key].findIndex((character) => !/^[\x20-\x7e]$/.test(character));
  if (index < 0) return key;
  throw new GymError(
    "PROVIDER_API_KEY",
    `${name} contains a character that is not valid in an HTTP header (the ${index + 1}${ordinal(index + 1)} of ${[...key].length}): only ASCII is valid. Was the key truncated when it was copied?`,
  );
}

function ordinal(number: number): string {
  const teens = number % 100 >= 11 && number % 100 <= 13;
  return (!teens && { 1: "st", 2: "nd", 3: "rd" }[number % 10]) || "th";
}
