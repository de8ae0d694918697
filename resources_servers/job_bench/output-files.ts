import path from "node:path";
import { type Sandbox, shellQuote } from "nemo-gym/sandbox";

export const OUTPUT = "/workspace/output";
const MAX_FILES = 40;
const MAX_BYTES = 200_000;
const MAX_IMAGE_BYTES = 2_000_000;
const IMAGES: Record<string, string> = {
  ...{
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
  },
};

export type Part = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

export interface Output {
  parts: Part[];
  /** Files that the judge does not see. */
  hidden: string[];
}

/** What the judge sees of the output folder: texts, pictures, and what `extractors` make of other files. */
export async function readOutput(
  sandbox: Sandbox,
  extractors: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Output> {
  const run = (command: string) => sandbox.exec(command, { cwd: "/", timeoutSeconds: 60, signal });
  // A link could lead to a file outside of the output.
  const { stdout } = await run(
    `find ${OUTPUT} -type f -printf '%s %P\\0' 2>/dev/null | sort -z -k2 | head -z -n 1000`,
  );
  const found = (stdout ?? "").split("\0").filter(Boolean).map(sizeAndName);
  const parts: Part[] = [];
  const hidden = found.slice(MAX_FILES).map(({ name }) => name);
  for (const { name, size } of found.slice(0, MAX_FILES)) {
    const part = await readFile(name, size);
    if (part) parts.push({ type: "text", text: `=== ${name} ===` }, part);
    else hidden.push(name);
  }
  return { parts, hidden };

  async function readFile(name: string, size: number): Promise<Part | undefined> {
    const file = shellQuote(`${OUTPUT}/${name}`);
    const extension = path.extname(name).toLowerCase();
    const type = IMAGES[extension];
    if (type) {
      if (size > MAX_IMAGE_BYTES) return undefined;
      const { return_code, stdout } = await run(`base64 -w0 ${file}`);
      return return_code === 0
        ? { type: "image_url", image_url: { url: `data:${type};base64,${stdout}` } }
        : undefined;
    }
    const extractor = Object.hasOwn(extractors, extension) ? extractors[extension] : undefined;
    const command = extractor === undefined ? `cat ${file}` : extractor.replaceAll("{file}", file);
    const { return_code, stdout } = await run(`(${command}) | head -c ${MAX_BYTES}`);
    const isText = return_code === 0 && stdout != null && !/[\0\ufffd]/.test(stdout);
    return isText ? { type: "text", text: stdout } : undefined;
  }
}

function sizeAndName(line: string): { size: number; name: string } {
  const space = line.indexOf(" ");
  return { size: Number(line.slice(0, space)), name: line.slice(space + 1) };
}
