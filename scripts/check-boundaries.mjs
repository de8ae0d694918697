// Checks the direction of imports between the folders of src/, and keeps the start of `gym` light.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Top-level files that every folder may import. They import nothing but each other. */
const SHARED_FILES = [
  "errors.ts",
  "failures.ts",
  "logger.ts",
  "marked-processes.ts",
  "parse-json.ts",
  "printable.ts",
  "process-wide.ts",
  "request-guard.ts",
  "secrets.ts",
];

/** The folders (and top-level files) of src/ that a folder may import from. The table must have no cycle. */
const MAY_IMPORT = {
  python: [],
  files: ["python"],
  queue: [],
  config: ["python"],
  "import-typescript.ts": ["config"],
  "check-options.ts": ["python"],
  math: ["calls"],
  metrics: ["python"],
  verify: ["python", "config", "definitions"],
  wire: ["python"],
  calls: [],
  remote: ["files", "calls"],
  submit: ["python", "files", "config"],
  sandbox: ["python", "files", "config", "calls"],
  "model-endpoint": ["python", "files", "wire", "calls"],
  capture: ["python", "files", "wire", "calls", "model-endpoint", "import-typescript.ts"],
  definitions: ["python", "config", "wire", "calls", "capture"],
  agents: ["python", "files", "wire", "calls", "capture", "definitions", "sandbox"],
  "code-runner": ["python", "config", "calls", "sandbox", "definitions"],
  hosting: [
    "python",
    "files",
    "config",
    "metrics",
    "wire",
    "calls",
    "model-endpoint",
    "capture",
    "definitions",
    "import-typescript.ts",
  ],
  rollouts: ["python", "files", "config", "metrics", "wire", "verify", "calls", "capture"],
  datasets: ["python", "files", "config", "wire", "remote", "rollouts", "import-typescript.ts"],
  results: ["python", "files", "metrics", "wire", "calls", "rollouts", "check-options.ts"],
  run: [
    "python",
    "files",
    "queue",
    "config",
    "metrics",
    "calls",
    "capture",
    "model-endpoint",
    "definitions",
    "hosting",
    "rollouts",
    "datasets",
    "results",
    "tracking",
    "check-options.ts",
    "import-typescript.ts",
  ],
  tracking: ["python", "files", "remote", "rollouts", "results"],
  workloads: [
    "python",
    "files",
    "config",
    "wire",
    "calls",
    "definitions",
    "hosting",
    "datasets",
    "rollouts",
    "run",
  ],
  testing: ["python", "hosting", "datasets", "workloads", "sandbox"],
  "index.ts": ["python", "calls", "definitions", "datasets"],
  viewer: ["python", "files", "metrics", "wire", "datasets", "rollouts", "results"],
  cli: [
    "files",
    "python",
    "queue",
    "config",
    "math",
    "metrics",
    "wire",
    "calls",
    "remote",
    "submit",
    "definitions",
    "hosting",
    "rollouts",
    "datasets",
    "results",
    "run",
    "tracking",
    "workloads",
    "sandbox",
    "viewer",
  ],
};

/** The only modules that `gym --help` loads, so that it starts fast. */
const START_FILE = "src/cli/process.ts";
const START_MAY_LOAD = [
  /^src\/cli\//,
  /^src\/python\//,
  // The choices of flags.
  /^src\/results\/export\/export-filters\.ts$/,
  /^src\/rollouts\/errors\.ts$/,
  new RegExp(`^src/(?:${SHARED_FILES.join("|").replaceAll(".", "\\.")})$`),
];

const SERVER_FOLDERS = [
  "resources_servers",
  "responses_api_agents",
  "responses_api_models",
  "benchmarks",
  "environments",
];
/** Code that several servers share; the folders below it are independent of each other. */
const LIBRARY_FOLDER = "libraries";

const root = path.resolve(process.argv[2] ?? path.join(path.dirname(fileURLToPath(import.meta.url)), ".."));
const problems = [];

for (const file of sourceFiles("src")) {
  if (isTest(file)) continue;
  const source = read(file);
  for (const specifier of importsOf(source, { dynamic: true })) checkEdge(file, specifier);
  if (/\bglobalThis\.fetch\b/.test(source) && !file.startsWith("src/viewer/web/")) {
    problems.push(`${file}: uses the global fetch; use a pooled undici request`);
  }
}
for (const folder of [...SERVER_FOLDERS, LIBRARY_FOLDER]) {
  for (const file of sourceFiles(folder)) {
    for (const specifier of importsOf(read(file), { dynamic: true })) checkServerImport(file, specifier);
  }
}
for (const cycle of cycles())
  problems.push(`the table of allowed imports has a cycle: ${cycle.join(" -> ")}`);
checkStart();

if (problems.length > 0) {
  console.error([...new Set(problems)].join("\n"));
  process.exitCode = 1;
}

function checkEdge(file, specifier) {
  const target = resolveImport(file, specifier);
  if (target === undefined || !target.startsWith("src/")) return;
  const [from, to] = [topOf(file), topOf(target)];
  if (from === to || SHARED_FILES.includes(to)) return;
  const allowed = SHARED_FILES.includes(from) ? [] : MAY_IMPORT[from];
  if (allowed === undefined)
    problems.push(`${file}: ${from} has no row in the table of scripts/check-boundaries.mjs`);
  else if (!allowed.includes(to))
    problems.push(`${file}: imports ${target}, but ${from} may not import from ${to}`);
}

/** A server imports public entries, its own folder and libraries. Its tests may also start the servers beside it. */
function checkServerImport(file, specifier) {
  const target = resolveImport(file, specifier);
  if (target === undefined) return;
  if (target.startsWith("src/")) problems.push(`${file}: imports ${target}; import it from "nemo-gym"`);
  else if (!isTest(file) && homeOf(target) !== homeOf(file) && !isLibraryImport(file, target))
    problems.push(`${file}: imports ${target}; move what both use to ${LIBRARY_FOLDER}/`);
}

function isLibraryImport(file, target) {
  return target.startsWith(`${LIBRARY_FOLDER}/`) && !file.startsWith(`${LIBRARY_FOLDER}/`);
}

/** The folder of one server: `resources_servers/mcqa`. */
function homeOf(file) {
  return file.split("/").slice(0, 2).join("/");
}

/** The first cycle through each folder of the table. */
function cycles() {
  const found = [];
  const done = new Set();
  const visit = (name, trail) => {
    if (trail.includes(name)) return found.push([...trail.slice(trail.indexOf(name)), name]);
    if (done.has(name)) return undefined;
    for (const next of MAY_IMPORT[name] ?? []) visit(next, [...trail, name]);
    done.add(name);
    return undefined;
  };
  for (const name of Object.keys(MAY_IMPORT)) visit(name, []);
  return found;
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
