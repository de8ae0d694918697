import { readFile, stat } from "node:fs/promises";
import { extname, isAbsolute, relative, resolve } from "node:path";
import { HttpError } from "nemo-gym";

const MAX_AUDIO_BYTES = 256 * 1024 * 1024;

/** The engine selects its decoder by the media type, so the type is never guessed. */
const TYPES: Readonly<Record<string, string>> = {
  ".wav": "wav",
  ".flac": "flac",
  ".mp3": "mpeg",
  ".m4a": "mp4",
  ".ogg": "ogg",
  ".opus": "opus",
};

/** An audio file as a data URI; relative paths start at `root` and must stay below it. */
export async function audioUrl(path: string, root: string | null | undefined): Promise<string> {
  const file = locate(path, root);
  const type = TYPES[extname(file).toLowerCase()];
  if (type === undefined) {
    throw refusal(`${path} is not a recording of a known kind (${Object.keys(TYPES).join(", ")})`);
  }
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw refusal(`metadata.audio_path leads to ${file}, which does not exist`);
  if (found.size > MAX_AUDIO_BYTES) throw refusal(`${file} is larger than ${MAX_AUDIO_BYTES} bytes`);
  return `data:audio/${type};base64,${await readFile(file, "base64")}`;
}

function locate(path: string, root: string | null | undefined): string {
  if (isAbsolute(path)) return path;
  if (!root)
    throw refusal(`metadata.audio_path '${path}' is relative: set audio_root, or give the whole path`);
  const file = resolve(root, path);
  if (relative(resolve(root), file).startsWith("..")) throw refusal(`'${path}' leads out of audio_root`);
  return file;
}

function refusal(message: string): HttpError {
  return new HttpError(422, message, {
    failure: { class: "invalid_row", stage: "model", retryable: false, message },
  });
}
