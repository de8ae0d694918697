import { appendFileSync, existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import type { ScaffoldFiles } from "./files.ts";
import { readTemplate } from "./templates.ts";

interface PackageFile {
  type?: string;
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** The project files that editors, tests and commands need outside this package. Only missing files are returned. */
export function projectFiles(cwd: string, installRoot: string): ScaffoldFiles {
  if (isInside(cwd, installRoot)) return {};
  const files: Record<string, string> = {};
  if (!existsSync(path.join(cwd, "package.json"))) files["package.json"] = packageJson(cwd, installRoot);
  if (!existsSync(path.join(cwd, "tsconfig.json")))
    files["tsconfig.json"] = readTemplate("project/tsconfig.json");
  if (!existsSync(path.join(cwd, GITIGNORE))) files[GITIGNORE] = `${IGNORED.join("\n")}\n`;
  return files;
}

const GITIGNORE = ".gitignore";
/** Packages, results and the keys in env.yaml. `npm pack` leaves out what git ignores. */
const IGNORED = ["node_modules/", "results/", "env.yaml"];

/** Appends the lines that an existing `.gitignore` lacks. Returns them. */
export function completeGitignore(cwd: string, installRoot: string): string[] {
  const file = path.join(cwd, GITIGNORE);
  if (isInside(cwd, installRoot) || !existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const lines = new Set(text.split("\n").map((line) => line.trim().replace(/^\/|\/$/g, "")));
  const missing = IGNORED.filter((line) => !lines.has(line.replace(/\/$/, "")));
  const start = text === "" || text.endsWith("\n") ? "" : "\n";
  if (missing.length > 0) appendFileSync(file, `${start}${missing.join("\n")}\n`);
  return missing;
}

/** A note for a new project that depends on the installed copy of this package. */
export function copiedSource(cwd: string, installRoot: string): string | undefined {
  const { version = "*" } = readPackage(path.join(installRoot, "package.json"));
  const { specifier, isCopy } = packageSource(cwd, installRoot, version);
  return isCopy
    ? `package.json takes nemo-gym from the copy installed on this machine (${specifier}); before you share the project, run \`npm install <version, file or address>\`.`
    : undefined;
}

/** A warning for a project whose files Node treats as CommonJS, the default of `npm init`. */
export function commonJsProject(cwd: string, installRoot: string): string | undefined {
  const file = path.join(cwd, "package.json");
  if (isInside(cwd, installRoot) || !existsSync(file)) return undefined;
  if (readPackage(file).type === "module") return undefined;
  return 'package.json does not say "type": "module", so editors and tests take the files here for CommonJS. Set it with `npm pkg set type=module`.';
}

/** A warning for a package.json that lacks a needed dependency. */
export function missingDependency(cwd: string, installRoot: string): string | undefined {
  const file = path.join(cwd, "package.json");
  if (isInside(cwd, installRoot) || !existsSync(file)) return undefined;
  const { dependencies = {}, devDependencies = {} } = readPackage(file);
  const wanted = ["nemo-gym", "zod", "vitest"].filter(
    (name) => !(name in dependencies) && !(name in devDependencies),
  );
  if (wanted.length === 0) return undefined;
  return `package.json does not list ${wanted.join(", ")}; add ${wanted.length === 1 ? "it" : "them"} with \`npm install\`.`;
}

function packageJson(cwd: string, installRoot: string): string {
  const own = readPackage(path.join(installRoot, "package.json"));
  const version = (name: string) => own.dependencies?.[name] ?? own.devDependencies?.[name] ?? "*";
  const { specifier } = packageSource(cwd, installRoot, own.version ?? "*");
  const content = {
    name:
      path
        .basename(cwd)
        .toLowerCase()
        .replace(/[^a-z0-9._-]+/g, "-")
        .replace(/^[._-]+/, "") || "my-gym",
    private: true,
    type: "module",
    scripts: { test: "vitest run", types: "tsc --noEmit" },
    dependencies: { "nemo-gym": specifier, zod: version("zod") },
    devDependencies: {
      "@types/node": version("@types/node"),
      jiti: version("jiti"),
      typescript: version("typescript"),
      vitest: version("vitest"),
    },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function readPackage(file: string): PackageFile {
  return JSON.parse(readFileSync(file, "utf8")) as PackageFile;
}

function isInside(folder: string, parent: string): boolean {
  const relative = path.relative(parent, folder);
  return relative === "" || (!relative.startsWith("..") && !path.isAbsolute(relative));
}

interface PackageSource {
  /** The version in `dependencies` of a new project. */
  readonly specifier: string;
  /** True when the origin of this copy is unknown (global installs do not record it), so the copy itself is used. */
  readonly isCopy: boolean;
}

/** Finds out where this package was installed from, so that a new project in `cwd` uses the same source. */
export function packageSource(cwd: string, installRoot: string, version: string): PackageSource {
  const modules = `${path.sep}node_modules${path.sep}`;
  const split = installRoot.lastIndexOf(modules);
  if (split < 0) return { specifier: fileSpecifier(cwd, installRoot), isCopy: false };
  const owner = installRoot.slice(0, split);
  const name = installRoot.slice(split + modules.length).replaceAll(path.sep, "/");
  for (const given of [dependencyOf(owner, name), resolvedOf(owner, name)]) {
    if (given === undefined) continue;
    if (/^(?:git[+:]|github:|gitlab:|bitbucket:|https?:)/.test(given) && !isRegistryFile(given, name))
      return { specifier: given, isCopy: false };
    const file = /^(?:file:|\.{0,2}\/|~\/)/.test(given) ? given.replace(/^file:/, "") : undefined;
    if (file === undefined) return { specifier: `^${version}`, isCopy: false };
    const target = path.resolve(owner, file);
    if (existsSync(target)) return { specifier: fileSpecifier(cwd, target), isCopy: false };
  }
  return { specifier: fileSpecifier(cwd, installRoot), isCopy: true };
}

/** Registries serve `<name>/-/<name>-<version>.tgz`. */
function isRegistryFile(address: string, name: string): boolean {
  return address.includes(`/${name}/-/`);
}

/** A relative path between real paths, because npm resolves links first. */
function fileSpecifier(cwd: string, target: string): string {
  return `file:${path.relative(realpathSync(cwd), realpathSync(target)).split(path.sep).join("/")}`;
}

function dependencyOf(owner: string, name: string): string | undefined {
  const { dependencies, devDependencies } = readJson(path.join(owner, "package.json")) as PackageFile;
  return dependencies?.[name] ?? devDependencies?.[name];
}

/** The source that npm recorded at installation. The record exists even without a package.json. */
function resolvedOf(owner: string, name: string): string | undefined {
  const lock = readJson(path.join(owner, "node_modules/.package-lock.json")) as {
    packages?: Record<string, { resolved?: string }>;
  };
  return lock.packages?.[`node_modules/${name}`]?.resolved;
}

function readJson(file: string): object {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as object;
  } catch {
    // The file is only a hint. npm reports its problems to the owner.
    return {};
  }
}
