import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import type { RunningServers } from "../../servers/hosting/door.ts";
import type { StartView } from "./start.ts";

/** Editors write a file in several steps; this waits until they are done. */
const SETTLE_MS = 200;
const CODE = /\.(ts|js|mjs|py|json|ya?ml|txt|md)$/;

/** Restarts a server when its folder changes; a failed restart leaves the others running. */
export function watchServers(
  servers: RunningServers,
  view: Pick<StartView, "restarted" | "watching">,
): { close(): void } {
  const watchers: FolderWatch[] = [];
  const timers = new Map<string, NodeJS.Timeout>();
  const restart = async (name: string) => {
    const started = Date.now();
    try {
      await servers.restart(name);
      view.restarted(name, { milliseconds: Date.now() - started });
    } catch (error) {
      view.restarted(name, { error: errorMessage(error) });
    }
  };
  for (const { process_name: name, dir_path } of servers.instances) {
    watchers.push(
      new FolderWatch(dir_path, (file) => {
        if (!CODE.test(file)) return;
        clearTimeout(timers.get(name));
        timers.set(
          name,
          setTimeout(() => void restart(name), SETTLE_MS),
        );
      }),
    );
  }
  view.watching(watchers.length);
  return {
    close() {
      for (const watcher of watchers) watcher.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

const SKIPPED = new Set(["node_modules", "data", ".venv", "__pycache__", ".git"]);

/**
 * Reports changes of files in a folder and its subfolders. Watches folders instead of files, so that a file that is
 * replaced on save is still seen.
 */
export class FolderWatch {
  readonly #root: string;
  readonly #onChange: (file: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();

  /** `onChange` receives the path relative to the folder. */
  constructor(root: string, onChange: (file: string) => void) {
    this.#root = root;
    this.#onChange = onChange;
    this.#add(root);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #add(folder: string): void {
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      if (name !== null) this.#changed(path.join(folder, name));
    });
    // The folder is gone; the watcher of the parent reports its replacement.
    watcher.on("error", () => this.#remove(folder));
    this.#watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) this.#add(path.join(folder, entry.name));
    }
  }

  #changed(place: string): void {
    const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (!isFolder) {
      this.#remove(place);
      this.#onChange(path.relative(this.#root, place));
      return;
    }
    if (SKIPPED.has(path.basename(place))) return;
    // A folder with a watched name may be a new one, and its files may be older than the watcher.
    this.#remove(place);
    try {
      this.#add(place);
      for (const file of filesIn(place)) this.#onChange(path.relative(this.#root, file));
    } catch {
      // The folder no longer exists.
    }
  }

  /** Removes the watchers of a folder and its subfolders. */
  #remove(folder: string): void {
    for (const [known, watcher] of this.#watchers) {
      if (known === this.#root || (known !== folder && !known.startsWith(folder + path.sep))) continue;
      watcher.close();
      this.#watchers.delete(known);
    }
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name);
    if (!entry.isDirectory()) return [place];
    return SKIPPED.has(entry.name) ? [] : filesIn(place);
  });
}
