import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { SandboxSpecError } from "../../errors.ts";

/** Top directories of this machine with programs and libraries, without data of users. */
export const SYSTEM = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/** The parts of /etc that programs need. The others, such as password files, are not visible. */
const SYSTEM_ETC = [
  "alternatives",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "ssl/certs",
  "java-17-openjdk",
];
/** Top directories that are empty in a sandbox or created for every command, regardless of the image. */
const OWN = new Set(["proc", "dev", "sys", "run", "tmp", "home", "root"]);
const RESERVED = new Set([...SYSTEM, "proc", "dev", "sys", "etc"]);

/** A read-only path of the sandbox, and its source on this machine or in an unpacked image. */
export interface Mount {
  source: string;
  target: string;
}

/** The parts of `image` (the directory of an unpacked image), or of this machine, that a sandbox sees. */
export function readOnlyMounts(
  image: string | undefined,
  extra: readonly string[],
  workdir: string,
): Mount[] {
  const system = image === undefined ? machineMounts() : imageMounts(image, topOf(workdir));
  if (image !== undefined && !hasPrograms(image)) system.push(...machineMounts());
  const own = extra.map((source) => path.posix.resolve(source)).map((source) => ({ source, target: source }));
  return [...system, ...own].filter(({ source }) => exists(source));
}

/** Whether an image is a root file system. If not, its files are added to the programs of this machine. */
export function hasPrograms(image: string): boolean {
  return SYSTEM.some((name) => exists(path.join(image, name)));
}

function machineMounts(): Mount[] {
  return [
    ...SYSTEM.map((name) => ({ source: `/${name}`, target: `/${name}` })),
    ...SYSTEM_ETC.map((name) => ({ source: `/etc/${name}`, target: `/etc/${name}` })),
  ];
}

function imageMounts(image: string, writable: string): Mount[] {
  const names = readdirSync(image).filter((name) => !OWN.has(name) && name !== writable);
  return names.map((name) => ({ source: path.join(image, name), target: `/${name}` }));
}

/**
 * The writable directories above mounts, outermost first. They are pinned, because a command could otherwise replace one by
 * a link.
 */
export function directoriesAbove(mounts: readonly Mount[]): string[] {
  const isMounted = (directory: string) =>
    directory === "/etc" ||
    mounts.some(({ target }) => directory === target || directory.startsWith(`${target}/`));
  const above = mounts.flatMap(({ target }) =>
    ancestors(target).filter((directory) => !isMounted(directory)),
  );
  return [...new Set(above)]
    .filter((directory) => topOf(directory) !== "etc")
    .toSorted((a, b) => a.split("/").length - b.split("/").length);
}

/** `/a/b/c` gives `/a` and `/a/b`. */
function ancestors(absolute: string): string[] {
  const parts = absolute.split("/").slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

/** The directory of an unpacked image. Other providers run images by name. */
export function imageDirectory(image: string | undefined): string | undefined {
  if (image === undefined) return undefined;
  if (!path.isAbsolute(image))
    throw new SandboxSpecError(
      `The provider 'bubblewrap' cannot run container images such as '${image}'. Leave out 'image' to run on the programs of this ` +
        "machine, give the absolute path of an unpacked root file system, or use the provider 'docker'.",
    );
  if (statSync(image, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new SandboxSpecError(`The image '${image}' is not a directory with an unpacked root file system.`);
  return image;
}

/** Checks the work directory, which will be writable. */
export function checkWorkdir(workdir: string): string {
  const normal = path.posix.normalize(workdir).replace(/(?<=.)\/$/, "");
  if (!path.posix.isAbsolute(normal) || normal === "/" || RESERVED.has(topOf(normal)))
    throw new SandboxSpecError(
      `The workdir '${workdir}' cannot be used: give an absolute path outside of ${[...RESERVED].map((name) => `/${name}`).join(", ")}.`,
    );
  return normal;
}

export function topOf(absolute: string): string {
  return absolute.split("/")[1] ?? "";
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
