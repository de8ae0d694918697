import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ScaffoldFiles } from "./files.ts";
import { packageSource } from "./package-source.ts";

interface PackageFile {
  type?: string;
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** What a scaffold in a folder outside this package needs around it, so that editors, tests and commands find the package. */
export function projectFiles(cwd: string, installRoot: string): ScaffoldFiles {
  if (isInside(cwd, installRoot)) return {};
  const files: Record<string, string> = {};
  if (!existsSync(path.join(cwd, "package.json"))) files["package.json"] = packageJson(cwd, installRoot);
  if (!existsSync(path.join(cwd, "tsconfig.json"))) files["tsconfig.json"] = TSCONFIG;
  if ("package.json" in files && !existsSync(path.join(cwd, ".gitignore")))
    files[".gitignore"] = "node_modules/\nresults/\nenv.yaml\n";
  return files;
}

/** What to say about the project just made when it takes the package from the copy that is running. */
export function copiedSource(cwd: string, installRoot: string): string | undefined {
  const { version = "*" } = readPackage(path.join(installRoot, "package.json"));
  const { specifier, isCopy } = packageSource(cwd, installRoot, version);
  return isCopy
    ? `package.json takes nemo-gym from the copy installed on this machine (${specifier}); before you share the project, run \`npm install <version, file or address>\`.`
    : undefined;
}

/** What to say about a project whose files Node takes for CommonJS, which `npm init` makes. */
export function commonJsProject(cwd: string, installRoot: string): string | undefined {
  const file = path.join(cwd, "package.json");
  if (isInside(cwd, installRoot) || !existsSync(file)) return undefined;
  if (readPackage(file).type === "module") return undefined;
  return 'package.json does not say "type": "module", so editors and tests take the files here for CommonJS. Set it with `npm pkg set type=module`.';
}

/** The advice for a project that has a package.json without this package. */
export function missingDependency(cwd: string, installRoot: string): string | undefined {
  if (isInside(cwd, installRoot)) return undefined;
  const file = path.join(cwd, "package.json");
  if (!existsSync(file)) return undefined;
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

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true,
    "types": ["node"]
  },
  "include": ["**/*.ts"],
  "exclude": ["**/node_modules"]
}
`;

function readPackage(file: string): PackageFile {
  return JSON.parse(readFileSync(file, "utf8")) as PackageFile;
}

function isInside(folder: string, parent: string): boolean {
  const relative = path.relative(parent, folder);
  return relative === "" || (!relative.startsWith("..") && !path.isAbsolute(relative));
}
