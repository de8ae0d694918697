// Adds the optional packages of other platforms to package-lock.json, and missing checksums. npm omits packages
// that the current registry does not have, and `npm ci` then rejects the whole file. Run it after adding a dependency with
// native parts. Checksums come from the registry; unknown ones are listed and must be added from another registry.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PLATFORM =
  /-(android|darwin|freebsd|linux|openharmony|win32|wasm32)(?:-(arm64|arm|x64|ia32|ppc64|riscv64|s390x))?/;

/** The entries that are missing from a lock file, by their key in `packages`. */
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

/** Fills in `integrity` where it is missing; `lookUp` returns undefined for packages it does not know. */
export function addChecksums(packages, lookUp) {
  const unknown = [];
  for (const [place, entry] of Object.entries(packages)) {
    if (place === "" || entry.link || entry.integrity) continue;
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    entry.integrity = lookUp(name, entry.version);
    if (entry.integrity === undefined) unknown.push(`${name}@${entry.version}`);
  }
  return unknown;
}

function registryChecksum(name, version) {
  const words = ["view", "--json", `${name}@${version}`, "dist.integrity"];
  try {
    return JSON.parse(execFileSync("npm", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
  const lock = JSON.parse(readFileSync(file, "utf8"));
  const missing = missingEntries(lock);
  const sorted = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1));
  const unknown = addChecksums(Object.fromEntries(sorted), registryChecksum);
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
  console.log(`added ${Object.keys(missing).length} entries`);
  if (unknown.length > 0) console.log(`the registry has no checksum of: ${unknown.join(", ")}`);
}
