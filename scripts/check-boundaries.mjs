// Checks that imports between the rooms of src/ point one way and go through doors, and keeps the start of `gym` light.
// --counts measures the surface.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The rooms of src/, from the bottom up. A room imports only from rooms in lower rows. */
const LAYERS = [
  ["base"],
  ["config", "wire", "math"],
  ["records"],
  ["sandbox"],
  ["servers"],
  ["data"],
  ["run"],
  ["viewer"],
  ["cli"],
  ["testing", "index.ts"],
];
const LAYER_OF = new Map(LAYERS.flatMap((rooms, layer) => rooms.map((room) => [room, layer])));

/** A room is imported through files of these names. A light door is for what must not load the rest of its folder. */
const DOOR = /\/(index|door|light-door)\.ts$|^src\/[^/]+\/errors\.ts$/;
/** Modules that are doors: the start of `gym`, a thread or the viewer's page needs them alone, or they are one whole thing. */
const MODULE_DOORS = [
  "base/check-options.ts",
  "base/config-key.ts",
  "base/failures.ts",
  "base/python/re.ts",
  "base/secrets.ts",
  "base/suggest.ts",
  "config/import-typescript.ts",
  "config/paths.ts",
  "data/convert/format-names.ts",
  "records/results/export/export-filters.ts",
  "records/trajectory-parts.ts",
  "run/head.ts",
  "run/settings.ts",
  "wire/schemas/lax.ts",
];

const FAILURES = "src/base/failures.ts";
/** An error whose class the compiler compares with the table, as it does for `failure("…")` and `isFailureOf`. */
const CHECKED_CLASS = /new ProviderError\(\{[\s\S]*?\}\)/g;

/** The only modules that `gym --help` loads, so that it starts fast. */
const START_FILE = "src/cli/process.ts";
const START_MAY_LOAD = [
  /^src\/cli\//,
  /^src\/base\/[^/]+$/,
  /^src\/base\/python\//,
  // The keys and choices of flags.
  /^src\/run\/settings\.ts$/,
  /^src\/data\/convert\/format-names\.ts$/,
  /^src\/records\/results\/export\/export-filters\.ts$/,
  /^src\/records\/errors\.ts$/,
];

const SERVER_FOLDERS = [
  "resources_servers",
  "responses_api_agents",
  "responses_api_models",
  "environment_servers",
  "benchmarks",
  "environments",
];
/** Code that several servers share; the folders below it are independent of each other. */
const LIBRARY_FOLDER = "libraries";

const [given] = process.argv.slice(2).filter((word) => word !== "--counts");
const root = path.resolve(given ?? path.join(path.dirname(fileURLToPath(import.meta.url)), ".."));
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
checkStart();
if (process.argv.includes("--counts")) printCounts();

if (problems.length > 0) {
  console.error([...new Set(problems)].join("\n"));
  process.exitCode = 1;
}

function checkEdge(file, specifier) {
  const target = resolveImport(file, specifier);
  if (target === undefined || !target.startsWith("src/")) return;
  const [from, to] = [topOf(file), topOf(target)];
  if (from === to) return;
  for (const [room, where] of [
    [from, file],
    [to, target],
  ])
    if (!LAYER_OF.has(room))
      problems.push(`${where}: ${room} is not a room of the table in scripts/check-boundaries.mjs`);
  if (LAYER_OF.get(to) >= LAYER_OF.get(from))
    problems.push(`${file}: imports ${target}, but ${from} may not import from ${to}`);
  // The entry `nemo-gym` is the list of its names; a door in between would load more than they need.
  else if (
    file !== "src/index.ts" &&
    !DOOR.test(target) &&
    !MODULE_DOORS.includes(target.slice("src/".length))
  )
    problems.push(`${file}: imports ${target}, which is not a door of ${to}; import from a door.ts of ${to}`);
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

/** The size of the surface: what a reader has to know to work in one room. */
function printCounts() {
  const edges = new Set();
  const crossing = new Map();
  const literals = new Set();
  const failureClass = failureClasses();
  const definitions = new Map();
  for (const file of sourceFiles("src").filter((name) => !isTest(name))) {
    const source = read(file);
    for (const { specifier, names, types } of namedImports(source)) {
      const target = resolveImport(file, specifier);
      if (!target?.startsWith("src/") || topOf(target) === topOf(file) || file === "src/index.ts") continue;
      edges.add(`${topOf(file)} ${topOf(target)}`);
      for (const name of names) {
        const key = `${target} ${name}`;
        crossing.set(key, (crossing.get(key) ?? true) && types.has(name));
      }
    }
    if (file !== FAILURES && failureClass.test(source.replace(CHECKED_CLASS, ""))) literals.add(file);
    for (const [, name] of source.matchAll(
      /^export (?:async )?(?:function\*?|const|class|interface|type|enum) (\w+)/gm,
    ))
      definitions.set(name, (definitions.get(name) ?? new Set()).add(file));
  }
  const rooms = new Set(sourceFiles("src").map(topOf));
  rooms.delete("index.ts");
  const twice = [...definitions.values()].filter((files) => files.size > 1).length;
  console.log(`rooms: ${rooms.size}`);
  console.log(`edges between rooms: ${edges.size}`);
  const crossingTypes = [...crossing.values()].filter(Boolean).length;
  console.log(`names that cross a room: ${crossing.size}, of them types: ${crossingTypes}`);
  console.log(`files that spell a failure class: ${literals.size}`);
  console.log(`names defined in more than one file: ${twice}`);
  const { names, types, stars } = publicNames();
  console.log(`public names: ${names}, of them types: ${types}, and ${stars} export *`);
}

/** Finds the name of a failure class where a class is given; most of the names are also names of other things. */
function failureClasses() {
  const table = /FAILURE_CLASSES = \{([\s\S]*?)\n\}/.exec(read(FAILURES))?.[1] ?? "";
  const names = [...table.matchAll(/^ {2}(\w+): \{/gm)].map(([, name]) => name);
  return new RegExp(`\\b(?:class|failure_class)(?:"?: | === | !== )"(?:${names.join("|")})"`);
}

/** The names of the public entries, which package.json lists. */
function publicNames() {
  const entries = Object.values(JSON.parse(read("package.json")).exports).flatMap(
    (entry) => entry.default ?? [],
  );
  let names = 0;
  let types = 0;
  let stars = 0;
  for (const entry of entries) {
    const source = read(entry.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts"));
    for (const { names: found, types: foundTypes } of namedImports(source.replace(/^import [^;]*;/gm, "")))
      if (found[0]?.startsWith("*")) stars++;
      else {
        names += found.length;
        types += foundTypes.size;
      }
    names += [...source.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) \w+/gm)]
      .length;
  }
  return { names, types, stars };
}

/** The names that a file imports or re-exports, by module; `types` holds those that are marked as types. */
function namedImports(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  return [
    ...code.matchAll(/^(?:import|export)\s(type\s)?(?:\{([^}]*)\}|([^;"']*?))\s*from\s*["']([^"']+)["']/gm),
  ].map(([, type, braced, other = "", specifier]) => {
    const clauses = (braced?.split(",") ?? [other]).map((clause) => clause.trim()).filter(Boolean);
    const nameOf = (clause) => clause.replace(/^type /, "").split(" as ")[0];
    const types = clauses.filter((clause) => type !== undefined || clause.startsWith("type "));
    return { specifier, names: clauses.map(nameOf), types: new Set(types.map(nameOf)) };
  });
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
