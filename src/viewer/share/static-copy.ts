import { createHash } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../../base/files/door.ts";
import type { Board } from "../../records/door.ts";
import { fileError } from "../../records/errors.ts";
import type { ListedRow, RowRef, ViewerStatus } from "../api-types.ts";
import { shownBoard } from "../board-shown.ts";
import { ViewerError, ViewerRequestError } from "../errors.ts";
import { readRequest } from "../query/request.ts";
import { refOf, rowCodeOf } from "../query/select-rows.ts";
import type { ViewedRun } from "../run/viewed-run.ts";
import type { WebFiles } from "../web-files.ts";
import { type EmbeddedRun, textName } from "./embedded.ts";

/** Maximum size of the rollouts in one HTML file. */
const MAX_BYTES = 200 * 1024 * 1024;
/** Number of files of a folder that are written at a time. */
const AT_ONCE = 16;

/** One HTML file with the viewer and some rollouts of a run; it needs no server and loads nothing. */
export async function rolloutsHtml(
  run: ViewedRun,
  refs: readonly RowRef[],
  webFiles: WebFiles,
): Promise<string> {
  const texts: Record<string, string> = {};
  let bytes = 0;
  for (const ref of refs) {
    const text = await run.rows.text(ref);
    bytes += text.length;
    if (bytes > MAX_BYTES)
      throw new ViewerRequestError(413, "These rollouts are larger than 200 MB; choose fewer.");
    texts[textName(ref)] = text;
  }
  const embedded = await embeddedRun(run, Int32Array.from(refs, rowCodeOf), {
    texts,
    title: `${run.id}: ${refs.length} rollouts`,
  });
  const data = JSON.stringify(embedded).replace(/</g, "\\u003c");
  return pageWith(webFiles, `<script type="application/json" id="embedded-run">${data}</script>`);
}

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
  await newFolder(folder);
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
  const codes = await run.selected(readRequest(new URLSearchParams()), options.signal);
  for (let at = 0; at < codes.length; at += AT_ONCE) {
    options.signal?.throwIfAborted();
    const some = [...codes.subarray(at, at + AT_ONCE)];
    await Promise.all(
      some.map(async (code) => {
        const ref = refOf(code);
        await writeData(`rows/${textName(ref)}`, await run.rows.text(ref));
      }),
    );
    options.onProgress?.(Math.min(at + AT_ONCE, codes.length), codes.length);
  }
  const embedded = await embeddedRun(run, codes, { texts: null, title: run.id });
  await writeData("run", JSON.stringify(embedded));
  return { rows: codes.length, files };
}

async function newFolder(folder: string): Promise<void> {
  await makeDirectory(folder).catch((error: unknown) => {
    throw fileError(error, folder, "write");
  });
  if ((await readdir(folder)).length > 0)
    throw new ViewerError("VIEWER_FOLDER_NOT_EMPTY", `'${folder}' is not empty. Name a new folder.`);
}

/** Writes a board as a folder of static files, like `writeStaticFolder`. Its runs are not part of it. */
export async function writeStaticBoard(board: Board, folder: string, webFiles: WebFiles): Promise<void> {
  await newFolder(folder);
  await mkdir(path.join(folder, "data"));
  const text = JSON.stringify(JSON.stringify(shownBoard(board)));
  await writeFile(path.join(folder, "data/board.js"), `(window.gymViewerData ??= {}).board = ${text};\n`);
  const page = pageWith(webFiles, '<meta name="gym-viewer" content="board" />', "'self'");
  await writeFile(path.join(folder, "index.html"), page);
}

/** The data of a page without a server for some rows of a run. Its figures are those of these rows. */
async function embeddedRun(
  run: ViewedRun,
  codes: Int32Array,
  options: Pick<EmbeddedRun, "texts" | "title">,
): Promise<EmbeddedRun> {
  const { isLost } = await run.lost();
  const rows: ListedRow[] = [];
  for (const code of codes) rows.push(await run.rows.listed(code, isLost));
  const of = run.rollouts.columns.length + run.failures.columns.length;
  const isAll = codes.length === of;
  const status = { ...(await run.status()), can_annotate: false };
  return {
    status: isAll ? status : statusOf(rows, status),
    overview: isAll ? await run.overview(readRequest(new URLSearchParams())) : await run.overviewOf(codes),
    rows,
    chosen: isAll ? null : { rows: codes.length, of },
    ...options,
  };
}

/** The status of a run, with the counts and names of some of its rows. */
function statusOf(rows: readonly ListedRow[], status: ViewerStatus): ViewerStatus {
  const countsOf = (source: ListedRow["source"]) => {
    const own = rows.filter((row) => row.source === source);
    return { rows: own.length, bad_lines: own.filter(({ readable }) => !readable).length };
  };
  const names = (all: readonly (string | null)[]) => [...new Set(all.filter((name) => name !== null))].sort();
  return {
    ...status,
    rollouts: { ...status.rollouts, ...countsOf("rollouts") },
    failures: { ...status.failures, ...countsOf("failures") },
    agents: names(rows.map(({ agent }) => agent)),
    models: names(rows.map(({ model }) => model)),
    tools: names(rows.flatMap(({ tools }) => tools)),
    failure_classes: names(rows.map(({ failure }) => failure)),
    labels: names(rows.flatMap(({ annotation }) => annotation?.labels ?? [])),
    unreadable: rows.filter(({ readable }) => !readable).length,
  };
}

/** The built page with its script, its styles and `data` inlined; `sources` are additional origins for scripts. */
function pageWith(webFiles: WebFiles, data: string, sources = ""): string {
  const index = webFiles.get("/index.html")?.content.toString("utf8") ?? "";
  const file = (address: string) => webFiles.get(address.replace(/^\./, ""))?.content.toString("utf8") ?? "";
  const scripts: string[] = [];
  const page = index
    .replace(/<link[^>]*rel="icon"[^>]*>/g, "")
    .replace(
      /<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"[^>]*>/g,
      (_, address: string) => `<style>${file(address)}</style>`,
    )
    .replace(/<script[^>]*src="([^"]+)"[^>]*><\/script>/g, (_, address: string) => {
      scripts.push(inScript(file(address)));
      return "";
    });
  const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  const policy = `default-src 'none'; script-src ${[...hashes, sources].join(" ").trim()}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const meta = `<meta http-equiv="content-security-policy" content="${policy}">`;
  const body = `${data}${scripts.map((script) => `<script type="module">${script}</script>`).join("")}`;
  // Functions as replacements, because `$&` in a script would be interpreted as a pattern.
  return page.replace("<head>", () => `<head>${meta}`).replace("</body>", () => `${body}</body>`);
}

/** `</script` inside the code would end the element. */
function inScript(code: string): string {
  return code.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
}
