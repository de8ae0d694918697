// Holds the direction of dependencies between the folders of src/, and keeps the start of `gym` light.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A folder may import from its own row and from those above it. */
const LAYERS = [
  ["python", "text", "errors.ts", "printable.ts", "secret-names.ts"],
  ["config", "openai", "metrics", "text", "verify"],
  ["server", "client", "sandbox"],
  ["rollouts", "datasets", "catalog", "scaffold", "exporters", "submit"],
  ["testing", "index.ts"],
  ["audit", "verifier-fixtures", "publishing"],
  ["cli", "viewer"],
];

/** What `gym --help` loads: these and nothing else, so that it starts in a blink. */
const START_FILE = "src/cli/process.ts";
const START_MAY_LOAD = [/^src\/cli\//, /^src\/python\//, /^src\/(?:errors|printable|secret-names)\.ts$/];

const SERVER_FOLDERS = [
  "resources_servers",
  "responses_api_agents",
  "responses_api_models",
  "benchmarks",
  "environments",
];

const root = path.resolve(process.argv[2] ?? path.join(path.dirname(fileURLToPath(import.meta.url)), ".."));
const problems = [];

for (const file of sourceFiles("src")) {
  if (isTest(file)) continue;
  const source = read(file);
  for (const specifier of importsOf(source, { dynamic: true })) checkDirection(file, specifier);
  if (/\bglobalThis\.fetch\b/.test(source) && !file.startsWith("src/viewer/web/")) {
    problems.push(`${file}: uses the global fetch; use a pooled undici request`);
  }
}
for (const folder of SERVER_FOLDERS) {
  for (const file of sourceFiles(folder)) {
    for (const specifier of importsOf(read(file), { dynamic: true })) {
      const target = resolveImport(file, specifier);
      if (target?.startsWith("src/")) problems.push(`${file}: imports ${target}; import it from "nemo-gym"`);
    }
  }
}
checkStart();

if (problems.length > 0) {
  console.error([...new Set(problems)].join("\n"));
  process.exitCode = 1;
}

function checkDirection(file, specifier) {
  const target = resolveImport(file, specifier);
  if (target === undefined || !target.startsWith("src/")) return;
  const from = layerOf(file);
  const to = layerOf(target);
  if (from === -1)
    problems.push(`${file}: ${topOf(file)} has no place in the layers of scripts/check-boundaries.mjs`);
  else if (to > from)
    problems.push(`${file}: imports ${target}, which points up (${topOf(file)} <- ${topOf(target)})`);
}

/** Walks the imports that are always loaded; those behind `import()` and type imports are not. */
function checkStart() {
  const loaded = new Set();
  const queue = [START_FILE];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    for (const specifier of importsOf(read(file), { dynamic: false })) {
      if (specifier.startsWith("node:")) continue;
      const target = resolveImport(file, specifier) ?? specifier;
      if (START_MAY_LOAD.some((pattern) => pattern.test(target))) queue.push(target);
      else problems.push(`${file}: loads ${target} at the start of every command; import it inside run()`);
    }
  }
}

function importsOf(source, { dynamic }) {
  const found = [];
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  for (const [, clause = "", specifier] of code.matchAll(
    /^(?:import|export)\s([^;"']*?from\s*)?["']([^"']+)["']/gm,
  )) {
    if (dynamic || !isTypeOnly(clause)) found.push(specifier);
  }
  if (dynamic)
    for (const [, specifier] of code.matchAll(/\bimport\(\s*["']([^"']+)["']/g)) found.push(specifier);
  return found;
}

function isTypeOnly(clause) {
  if (/^type\s/.test(clause)) return true;
  const named = /^\{([^}]*)\}/.exec(clause.trim());
  const names = named?.[1].split(",").filter((name) => name.trim() !== "") ?? [];
  return names.length > 0 && names.every((name) => /^\s*type\s/.test(name));
}

function resolveImport(file, specifier) {
  return specifier.startsWith(".")
    ? path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier))
    : undefined;
}

function topOf(file) {
  return file.split("/")[1] ?? file;
}

/** `src/<folder>/index.ts` is a public entry, for users only: it may gather from anywhere below the command line. */
function layerOf(file) {
  if (/^src\/\w+\/index\.ts$/.test(file)) return layerOf("src/cli/main.ts") - 1;
  return LAYERS.findIndex((layer) => layer.includes(topOf(file)));
}

function isTest(file) {
  return /\.test(-d)?\.ts$/.test(file);
}

function read(file) {
  return readFileSync(path.join(root, file), "utf8");
}

function sourceFiles(folder) {
  let entries;
  try {
    entries = readdirSync(path.join(root, folder), { withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sourceFiles(name);
    return /\.tsx?$/.test(entry.name) ? [name] : [];
  });
}
