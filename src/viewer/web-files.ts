import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { ViewerError } from "./errors.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export interface WebFile {
  content: Buffer;
  gzip: Buffer;
  headers: Record<string, string>;
}

export type WebFiles = ReadonlyMap<string, WebFile>;

/** The built pages by their address. All are read at the start, so that a request never becomes a path. */
export async function loadWebFiles(directory: string): Promise<WebFiles> {
  const files = new Map<string, WebFile>();
  const names = await readdir(directory, { recursive: true }).catch((error: unknown) => {
    throw notBuilt(directory, error);
  });
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const address = `/${name.split(path.sep).join("/")}`;
    const content = await readFile(path.join(directory, name));
    // The names of assets contain a digest of their content.
    const cache = address.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    const headers = { "content-type": type, "cache-control": cache };
    files.set(address, { content, gzip: gzipSync(content), headers });
  }
  const index = files.get("/index.html");
  if (index === undefined) throw notBuilt(directory);
  return files.set("/", index);
}

function notBuilt(directory: string, cause?: unknown): ViewerError {
  return new ViewerError(
    "VIEWER_NOT_BUILT",
    `The pages of the viewer are not in '${directory}'. Run \`npm run build\`.`,
    { cause },
  );
}
