// Adds to package-lock.json the optional packages of other platforms. npm leaves out those the registry at hand does not
// have, and `npm ci` then refuses the whole file. Run it after adding a dependency with native parts.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PLATFORM =
  /-(android|darwin|freebsd|linux|openharmony|win32|wasm32)(?:-(arm64|arm|x64|ia32|ppc64|riscv64|s390x))?/;

/** The entries that are missing from a lock file, by their place in `packages`. */
export function missingEntries(lock) {
  const missing = {};
  for (const [place, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const known = [`${place}/node_modules/${name}`, `node_modules/${name}`].some(
        (at) => at in lock.packages,
      );
      const platform = PLATFORM.exec(name);
      if (known || platform === null) continue;
      missing[`node_modules/${name}`] = { ...platformEntry(name, platform), version, dev: entry.dev };
    }
  }
  return missing;
}

function platformEntry(name, [, system, cpu]) {
  if (system === "wasm32") return { cpu: ["wasm32"], optional: true };
  const libc = name.includes("musl") ? ["musl"] : name.includes("gnu") ? ["glibc"] : undefined;
  return { cpu: cpu && [cpu], libc, optional: true, os: [system] };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
  const lock = JSON.parse(readFileSync(file, "utf8"));
  const missing = missingEntries(lock);
  const sorted = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
  console.log(`added ${Object.keys(missing).length} entries`);
}
