import { statSync } from "node:fs";
import path from "node:path";
import { HOME, SANDBOX_USER } from "./arguments.ts";
import type { StoreEntry } from "./holder.ts";
import { directoriesAbove, type Mount, topOf } from "./mounts.ts";

const PASSWD = `root:x:0:0:root:/root:/bin/sh\nsandbox:x:${SANDBOX_USER}:${SANDBOX_USER}:sandbox:${HOME}:/bin/sh\n`;
const GROUP = `root:x:0:\nsandbox:x:${SANDBOX_USER}:\n`;

/**
 * What a new sandbox starts with: `root` is its writable root directory, `etc` goes over /etc read-only, `shm` over /dev/shm.
 * The work directory of an image is copied, so that it can be changed.
 */
export function storeEntries(
  image: string | undefined,
  mounts: readonly Mount[],
  workdir: string,
): StoreEntry[] {
  return [
    { kind: "directory", path: "shm" },
    { kind: "text", path: "etc/passwd", value: PASSWD },
    { kind: "text", path: "etc/group", value: GROUP },
    { kind: "text", path: "etc/hosts", value: "127.0.0.1 localhost sandbox\n" },
    ...mounts.filter(({ target }) => target.startsWith("/etc/")).map(mountPoint),
    ...["tmp", "var/tmp", "root", HOME.slice(1)].map(directory),
    ...(image === undefined ? [] : copied(image, topOf(workdir))),
    directory(workdir.slice(1)),
    ...directoriesAbove(mounts).map((name) => directory(name.slice(1))),
  ];
}

function directory(name: string): StoreEntry {
  return { kind: "directory", path: `root/${name}` };
}

/** Below /etc, which commands see read-only, every place that is mounted over must be there. */
function mountPoint({ source, target }: Mount): StoreEntry {
  const below = target.slice(1);
  return statSync(source).isDirectory()
    ? { kind: "directory", path: below }
    : { kind: "text", path: below, value: "" };
}

function copied(image: string, name: string): StoreEntry[] {
  const source = path.join(image, name);
  const there = statSync(source, { throwIfNoEntry: false })?.isDirectory() === true;
  return there ? [{ kind: "copy", path: `root/${name}`, value: source }] : [];
}
