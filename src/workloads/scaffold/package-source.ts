import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";

export interface PackageSource {
  /** What `dependencies` of a new project say. */
  readonly specifier: string;
  /** The origin of this copy is unknown (global installs leave no note), so the copy itself is used. */
  readonly isCopy: boolean;
}

/** How a new project in `cwd` gets the package that is running: from where it came itself. */
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

/** Relative, and true where the folder itself is a link: npm resolves it from the real place. */
function fileSpecifier(cwd: string, target: string): string {
  return `file:${path.relative(realpathSync(cwd), realpathSync(target)).split(path.sep).join("/")}`;
}

function dependencyOf(owner: string, name: string): string | undefined {
  const { dependencies, devDependencies } = readJson(path.join(owner, "package.json")) as {
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  return dependencies?.[name] ?? devDependencies?.[name];
}

/** npm's own record of the installation, also without a package.json. */
function resolvedOf(owner: string, name: string): string | undefined {
  const lock = readJson(path.join(owner, "node_modules/.package-lock.json")) as {
    packages?: Record<string, { resolved?: string }>;
  };
  return lock.packages?.[`node_modules/${name}`]?.resolved;
}

function readJson(file: string): object {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8")) as object;
  } catch {
    // Read for a hint only; npm reports its problems to the owner.
    return {};
  }
}
