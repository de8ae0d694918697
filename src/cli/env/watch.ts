import { type FSWatcher, watch } from "node:fs";
import { errorMessage } from "../../errors.ts";
import type { RunningServers } from "../../server/run/run-servers.ts";
import type { CommandContext } from "../command.ts";

/** Editors write a file in several steps: wait until they are done. */
const SETTLE_MS = 200;
const CODE = /\.(ts|js|mjs|py|json|ya?ml|txt|md)$/;
const NOT_CODE = /(^|\/)(node_modules|data|\.venv|__pycache__)(\/|$)/;

/** Restarts a server when something in its folder changes; a restart that fails leaves the others running. */
export function watchServers(
  servers: RunningServers,
  { out, err, terminal }: Pick<CommandContext, "out" | "err" | "terminal">,
): { close(): void } {
  const watchers: FSWatcher[] = [];
  const timers = new Map<string, NodeJS.Timeout>();
  const restart = async (name: string) => {
    const started = Date.now();
    try {
      await servers.restart(name);
      out(`${terminal.green("↻")} ${name} restarted in ${Date.now() - started} ms`);
    } catch (error) {
      err(`${terminal.red("✗")} ${name} could not be restarted: ${errorMessage(error)}`);
    }
  };
  for (const { process_name: name, dir_path } of servers.instances) {
    watchers.push(
      watch(dir_path, { recursive: true }, (_event, file) => {
        if (file === null || !CODE.test(file) || NOT_CODE.test(file)) return;
        clearTimeout(timers.get(name));
        timers.set(
          name,
          setTimeout(() => void restart(name), SETTLE_MS),
        );
      }),
    );
  }
  out(`watching ${watchers.length} server folders`);
  return {
    close() {
      for (const watcher of watchers) watcher.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
