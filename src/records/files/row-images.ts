import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectory, replaceWith } from "../../base/files/door.ts";
import { fileError, RolloutFileError } from "../errors.ts";
import { packedFile } from "../packed/run-file.ts";

/** The folder beside the files of runs that holds the images of their rows, each once. */
export const IMAGE_FOLDER = "rollout_images";
/** What rows contain of their images: the content, or the name of a file in `rollout_images`. */
export const IMAGE_FORMS = ["reference", "inline"] as const;
export type ImageForm = (typeof IMAGE_FORMS)[number];

/** Shorter images stay in the row. */
const LEAST_CHARACTERS = 4096;

// A quotation mark inside a JSON string is escaped, so neither pattern matches text that a model or a tool wrote.
const MEMBER = `("(?:image_url|url)": ?")`;
const TYPE = "(png|jpeg|jpg|gif|webp|bmp|avif)";
const CONTENT = new RegExp(`${MEMBER}data:image/${TYPE};base64,`, "g");
const REFERENCE = new RegExp(`${MEMBER}${IMAGE_FOLDER}/([0-9a-f]{64})\\.${TYPE}"`, "g");
const NAME = new RegExp(`^([0-9a-f]{64})\\.${TYPE}$`);

/** The line with its large images stored beside `path`, and references in their place. */
export async function storeImages(path: string, line: string): Promise<string> {
  if (line.length < LEAST_CHARACTERS) return line;
  const parts: string[] = [];
  let copied = 0;
  for (const { index, 0: start, 1: member, 2: type } of line.matchAll(CONTENT)) {
    const from = index + start.length;
    const to = line.indexOf('"', from);
    if (to - from < LEAST_CHARACTERS) continue;
    const base64 = line.slice(from, to);
    const content = Buffer.from(base64, "base64");
    // Another spelling of the same bytes could not be restored.
    if (content.toString("base64") !== base64) continue;
    const name = `${digestOf(content)}.${type}`;
    await storeImage(join(dirname(path), IMAGE_FOLDER, name), content);
    parts.push(line.slice(copied, index), `${member}${IMAGE_FOLDER}/${name}`);
    copied = to;
  }
  return parts.length === 0 ? line : parts.join("") + line.slice(copied);
}

async function storeImage(path: string, content: Buffer): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.size === content.length) return;
  try {
    await makeDirectory(dirname(path));
    await replaceWith(path, async (partial) => {
      const file = await open(partial, "wx");
      try {
        await file.writeFile(content);
        await file.datasync();
      } finally {
        await file.close();
      }
    });
    const directory = await open(dirname(path), "r");
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    throw fileError(error, path, "write");
  }
}

/** The names of the images that a line refers to. */
export function imagesOf(line: string): string[] {
  if (!line.includes(IMAGE_FOLDER)) return [];
  return Array.from(line.matchAll(REFERENCE), ([, , digest, type]) => `${digest}.${type}`);
}

/** The line of the file `path` as it was before `storeImages`. */
export function restoreImages(path: string, line: string): string {
  if (!line.includes(IMAGE_FOLDER)) return line;
  return line.replace(REFERENCE, (_, member: string, digest: string, type: string) => {
    const content = imageContent(path, `${digest}.${type}`);
    return `${member}data:image/${type};base64,${content.toString("base64")}"`;
  });
}

/** The content of an image beside `path`. The digest also keeps a link in a foreign folder from naming other files. */
function imageContent(path: string, name: string): Buffer {
  const packed = packedFile(join(dirname(path), name));
  const file = join(dirname(path), IMAGE_FOLDER, name);
  let content: Buffer;
  if (packed) content = Buffer.concat(packed.file.chunks.map((chunk) => packed.run.content(chunk)));
  else
    try {
      content = readFileSync(file);
    } catch (error) {
      const problem = `An image of '${path}' cannot be read: ${fileError(error, file, "read").message}`;
      throw new RolloutFileError("ROLLOUT_IMAGE_MISSING", file, problem, { cause: error });
    }
  if (digestOf(content) === NAME.exec(name)?.[1]) return content;
  const problem = `An image of '${path}' was changed: the content of '${file}' does not match its name.`;
  throw new RolloutFileError("ROLLOUT_IMAGE_MISSING", file, problem);
}

function digestOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
