import type { RowRef } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";
import type { ViewedRun } from "../run/viewed-run.ts";
import type { WebFiles } from "../web-files.ts";
import { embeddedRun } from "./embed-run.ts";
import { pageWith } from "./page-with.ts";

const MAX_BYTES = 200 * 1024 * 1024;

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
    texts[`${ref.source}-${ref.line}`] = text;
  }
  const codes = refs.map(({ source, line }) => (source === "failures" ? -line : line - 1));
  const embedded = await embeddedRun(run, Int32Array.from(codes), {
    texts,
    title: `${run.id}: ${refs.length} rollouts`,
  });
  const data = JSON.stringify(embedded).replace(/</g, "\\u003c");
  return pageWith(webFiles, `<script type="application/json" id="embedded-run">${data}</script>`);
}
