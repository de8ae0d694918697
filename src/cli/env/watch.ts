import { errorMessage } from "../../errors.ts";
import type { RunningServers } from "../../hosting/processes/run-servers.ts";
import type { StartView } from "./start-view.ts";
import { FolderWatch } from "./watch-folder.ts";

/** Editors write a file in several steps: wait until they are done. */
const SETTLE_MS = 200;
const CODE = /\.(ts|js|mjs|py|json|ya?ml|txt|md)$/;

/** Restarts a server when something in its folder changes; a restart that fails leaves the others running. */
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
