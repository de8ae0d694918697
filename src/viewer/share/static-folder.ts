import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ViewerError } from "../errors.ts";
import { isFailureRow, rowOf } from "../query/select-rows.ts";
import type { ViewedRun } from "../run/viewed-run.ts";
import type { WebFiles } from "../web-files.ts";
import { embeddedRun, everything } from "./embed-run.ts";
import { textName } from "./embedded.ts";
import { pageWith } from "./page-with.ts";

const AT_ONCE = 16;

/**
 * Writes a run as a folder of static files that any web host can serve and that also works from disk. The folder must
 * be new or empty.
 */
export async function writeStaticFolder(
  run: ViewedRun,
  folder: string,
  webFiles: WebFiles,
  options: { onProgress?: (done: number, total: number) => void; signal?: AbortSignal } = {},
): Promise<{ rows: number; files: number }> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0)
    throw new ViewerError("VIEWER_FOLDER_NOT_EMPTY", `'${folder}' is not empty. Name a new folder.`);
  let files = 0;
  const write = async (name: string, content: string) => {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    files++;
  };
  const writeData = (name: string, text: string) =>
    write(
      `data/${name}.js`,
      `(window.gymViewerData ??= {})[${JSON.stringify(name)}] = ${JSON.stringify(text)};\n`,
    );
  await write("index.html", pageWith(webFiles, '<meta name="gym-viewer" content="static" />', "'self'"));
  const codes = await run.selected(everything(), options.signal);
  for (let at = 0; at < codes.length; at += AT_ONCE) {
    options.signal?.throwIfAborted();
    const some = [...codes.subarray(at, at + AT_ONCE)];
    await Promise.all(
      some.map(async (code) => {
        const ref = { source: isFailureRow(code) ? "failures" : "rollouts", line: rowOf(code) + 1 } as const;
        await writeData(`rows/${textName(ref)}`, await run.rows.text(ref));
      }),
    );
    options.onProgress?.(Math.min(at + AT_ONCE, codes.length), codes.length);
  }
  const embedded = await embeddedRun(run, codes, { texts: null, title: run.id });
  await writeData("run", JSON.stringify(embedded));
  return { rows: codes.length, files };
}
