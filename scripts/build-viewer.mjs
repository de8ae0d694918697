// Builds the pages of the viewer into dist/viewer, unless their sources have not changed since the last build.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = path.join(root, "src/viewer/web");
const output = path.join(root, "dist/viewer");
const stamp = path.join(root, "dist/.viewer-stamp");

/** The pages also use these folders, without their tests. */
const FOLDERS = ["src/viewer", "src/base/python", "src/wire"];
const FILES = [
  "src/base/errors.ts",
  "src/records/metrics/interval-caveats.ts",
  "scripts/build-viewer.mjs",
  "package-lock.json",
];

const digest = digestOf([...FOLDERS.flatMap(filesIn), ...FILES]);
if (
  existsSync(path.join(output, "index.html")) &&
  existsSync(stamp) &&
  readFileSync(stamp, "utf8") === digest
) {
  process.exit(0);
}
const { build } = await import("vite");
rmSync(stamp, { force: true });
await build({
  root: source,
  configFile: false,
  // Relative addresses work behind a proxy that adds a path.
  base: "./",
  logLevel: "warn",
  build: {
    outDir: output,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    // One script, so that it can be part of a page without a server: 200 kB compressed, a third of it for formulas.
    chunkSizeWarningLimit: 900,
  },
});
mkdirSync(path.dirname(stamp), { recursive: true });
writeFileSync(stamp, digest);

function filesIn(folder) {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)));
}

function digestOf(files) {
  const hash = createHash("sha256");
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  return hash.digest("hex");
}
