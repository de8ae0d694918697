import { gzipSync } from "node:zlib";
import type { WebFile, WebFiles } from "../web-files.ts";

/** The pages of the viewer, of which only the one for labels opens. */
export function labelPages(webFiles: WebFiles): WebFiles {
  const pages = new Map(webFiles);
  for (const address of ["/", "/index.html"]) {
    const page = webFiles.get(address);
    if (page) pages.set(address, asLabelPage(page));
  }
  return pages;
}

function asLabelPage({ content, headers }: WebFile): WebFile {
  const meta = '<head><meta name="gym-viewer" content="label" />';
  const page = Buffer.from(content.toString("utf8").replace("<head>", meta));
  return { content: page, gzip: gzipSync(page), headers };
}
