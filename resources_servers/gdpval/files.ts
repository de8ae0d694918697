import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

const SKIPPED = new Set([
  "finish_params.json",
  "metadata.json",
  "inprogress_history.json",
  "log.txt",
  "reference_files",
]);
const MAX_BYTES = 250 * 1024 * 1024;
const MAX_TEXT = 20_000;
const TEXT = new Set(
  ".txt .md .csv .tsv .json .jsonl .xml .html .htm .yaml .yml .py .js .ts .sql .log .tex .ini .toml .css .sh .r".split(
    " ",
  ),
);
const OFFICE = new Set(".docx .doc .xlsx .xls .pptx .ppt .odt .ods .odp".split(" "));
const MEDIA: Record<string, string> = {
  ...{
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
  },
  ...{
    ".pdf": "application/pdf",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
  },
  ...{
    ".ogg": "audio/ogg",
    ".mp4": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
  },
};

export type Part = { type: string } & Record<string, unknown>;
const textPart = (text: string): Part => ({ type: "text", text });

/** The files of a deliverable, without those of the agent, by name. */
async function filesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (SKIPPED.has(entry.name) || entry.name.startsWith("history.")) continue;
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesOf(full)));
    else if (entry.isFile()) found.push(full);
  }
  return found;
}

/** What a judge is shown of a folder: each file with its name. */
export async function partsOf(folder: string): Promise<Part[]> {
  const parts: Part[] = [];
  for (const file of await filesOf(folder)) {
    const name = path.relative(folder, file);
    const extension = path.extname(file).toLowerCase();
    parts.push(textPart(`File: ${name}`));
    const twin = OFFICE.has(extension) ? `${file.slice(0, -extension.length)}.pdf` : undefined;
    if (twin !== undefined) {
      // Its pages, if somebody has converted it; else the name says that it exists.
      if (existsSync(twin)) parts.push(await mediaPart(twin, "application/pdf"));
    } else if ((await stat(file)).size > MAX_BYTES) parts.push(textPart("(larger than 250 MB, not shown)"));
    else if (TEXT.has(extension)) parts.push(textPart(await readFile(file, "utf8")));
    else if (MEDIA[extension]) parts.push(await mediaPart(file, MEDIA[extension]));
  }
  return parts.length > 0 ? parts : [textPart("None")];
}

async function mediaPart(file: string, type: string): Promise<Part> {
  const url = `data:${type};base64,${(await readFile(file)).toString("base64")}`;
  if (type.startsWith("image/")) return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: path.basename(file), file_data: url } };
}

/** The texts of a deliverable, and what cannot be written as text. */
export async function rubricMaterial(folder: string): Promise<{ text: string; attached: Part[] }> {
  const sections: string[] = [];
  const attached: Part[] = [];
  for (const file of await filesOf(folder)) {
    const extension = path.extname(file).toLowerCase();
    const name = path.relative(folder, file);
    const type = MEDIA[extension];
    if (TEXT.has(extension)) sections.push(`=== ${name} ===\n${await readFile(file, "utf8")}`);
    else if (type !== undefined && (await stat(file)).size <= MAX_BYTES) {
      sections.push(`=== ${name} ===\n(attached)`);
      attached.push(await mediaPart(file, type));
    } else sections.push(`=== ${name} ===\n(not shown)`);
  }
  return { text: [...sections.join("\n\n")].slice(0, MAX_TEXT).join(""), attached };
}

/** Whether sound or film is among the files. */
export async function hasAudioVideo(folder: string): Promise<boolean> {
  return (await filesOf(folder)).some((file) =>
    /^(?:audio|video)\//.test(MEDIA[path.extname(file).toLowerCase()] ?? ""),
  );
}

export const isFinished = (folder: string) => existsSync(path.join(folder, "finish_params.json"));

/** The finished repeats of a task below the folder of a model. */
export async function repeatsOf(models: string, taskId: string): Promise<string[]> {
  const task = path.join(models, `task_${taskId}`);
  if (!existsSync(task)) return [];
  const names = (await readdir(task)).filter((name) => name.startsWith("repeat_")).sort();
  return (names.length > 0 ? names.map((name) => path.join(task, name)) : [task]).filter(isFinished);
}
