import { createHash } from "node:crypto";
import type { RowRef } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";
import type { ViewedRun } from "../run/viewed-run.ts";
import type { WebFiles } from "../web-files.ts";
import { embeddedRun } from "./embed-run.ts";

const MAX_BYTES = 200 * 1024 * 1024;

/** One HTML file with the pages of the viewer and some rollouts of a run; it needs no server and loads nothing. */
export async function rolloutsHtml(
  run: ViewedRun,
  refs: readonly RowRef[],
  webFiles: WebFiles,
): Promise<string> {
  const texts: Record<string, string> = {};
  let bytes = 0;
  for (const ref of refs) {
    const text = await run.rowText(ref);
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
  return pageWith(webFiles, JSON.stringify(embedded));
}

/** The built page with its script, its styles and the data inside. */
function pageWith(webFiles: WebFiles, data: string): string {
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
  const policy = `default-src 'none'; script-src ${hashes.join(" ")}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  const meta = `<meta http-equiv="content-security-policy" content="${policy}">`;
  const body = `<script type="application/json" id="embedded-run">${data.replace(/</g, "\\u003c")}</script>${scripts.map((script) => `<script type="module">${script}</script>`).join("")}`;
  // Functions as replacements: `$&` in a script is no pattern.
  return page.replace("<head>", () => `<head>${meta}`).replace("</body>", () => `${body}</body>`);
}

/** `</script` inside the code would end it. */
function inScript(code: string): string {
  return code.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
}
