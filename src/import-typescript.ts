import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { installRoot } from "./config/paths.ts";

/** Imports a TypeScript file; its imports of this package resolve to the running copy. */
export async function importTypeScript(
  file: string,
): Promise<{ default?: unknown } & Record<string, unknown>> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url, { alias: ownPackage(), interopDefault: false });
  return jiti.import(file);
}

/** Server files import this package by its name. Outside an install, the names resolve to the running copy. */
function ownPackage(): Record<string, string> {
  const alias: Record<string, string> = {};
  for (const [name, file] of publicEntries(import.meta.url.endsWith(".ts"))) alias[name] = file;
  // The host inspects zod schemas, so a server without a copy of its own shares ours.
  alias["zod"] = createRequire(import.meta.url).resolve("zod");
  return alias;
}

/**
 * The names users may import and the file of each, from `exports` in package.json, which is the one table of them.
 * Longer names come first: aliases match by prefix.
 */
function publicEntries(fromSource: boolean): [name: string, file: string][] {
  const root = installRoot();
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | { default: string }>;
  };
  const entries: [string, string][] = [];
  for (const [entry, target] of Object.entries(manifest.exports)) {
    if (typeof target === "string") continue;
    const built = path.join(root, target.default);
    const source = built.replace(`${path.sep}dist${path.sep}`, path.sep).replace(/\.js$/, ".ts");
    entries.push([path.posix.join(manifest.name, entry), fromSource ? source : built]);
  }
  return entries.sort(([a], [b]) => b.length - a.length);
}
