import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Jiti } from "jiti";
import { installRoot } from "./paths.ts";

/** Imports a TypeScript file. Its imports of this package resolve to the running copy. */
export async function importTypeScript(
  file: string,
): Promise<{ default?: unknown } & Record<string, unknown>> {
  return (await typeScriptLoader()).import(file);
}

/** The loader of TypeScript files. `fsCache: false` keeps no compiled files on disk. */
export async function typeScriptLoader(options: { fsCache?: boolean } = {}): Promise<Jiti> {
  const { createJiti } = await import("jiti");
  return createJiti(import.meta.url, { alias: ownPackage(), interopDefault: false, ...options });
}

/** Server files import this package by its name. Outside an install, the names resolve to the running copy. */
function ownPackage(): Record<string, string> {
  return {
    ...Object.fromEntries(publicEntries()),
    // The host inspects zod schemas, so a server without its own copy uses ours.
    zod: createRequire(import.meta.url).resolve("zod"),
  };
}

/**
 * The names that users may import and their files, from `exports` in package.json. Longer names come first, because aliases
 * match by prefix.
 */
export function publicEntries(): [name: string, file: string][] {
  const fromSource = import.meta.url.endsWith(".ts");
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
