import path from "node:path";
import { isLoopback } from "../../request-guard.ts";
import { findRunFiles } from "../../viewer/run-files.ts";
import { ViewerServer } from "../../viewer/server.ts";
import { ViewedRun } from "../../viewer/viewed-run.ts";
import { loadWebFiles } from "../../viewer/web-files.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { viewKeys } from "./keys.ts";
import { rolloutFile, shownPath } from "./rollout-file.ts";

/** Runs `gym eval view`: serves the viewer until Ctrl-C. */
export async function viewRun(
  context: CommandContext,
  options: { allowedHosts: readonly string[] },
): Promise<number> {
  const { io, installRoot, signal, out, err, json, terminal } = context;
  const { jsonl_fpath, server_host: host, server_port } = readKeys(viewKeys, await context.resolve());
  const given = await rolloutFile(context, jsonl_fpath, "RUN", { directory: true });
  const files = await findRunFiles(given);
  const webFiles = await loadWebFiles(path.join(installRoot, "dist", "viewer"));
  const run = new ViewedRun(files);
  const server = await ViewerServer.listen(run, { host, port: server_port, webFiles, ...options });
  const following = run.follow(signal);
  try {
    if (json) out(JSON.stringify({ url: server.url, host, port: server.port, file: files.rollouts }));
    else {
      if (server.port !== server_port && server_port !== 0)
        err(terminal.yellow(`Port ${server_port} is taken; using ${server.port}.`));
      if (!isLoopback(host))
        err(terminal.yellow("Everyone who can reach this machine can read the rollouts."));
      out(`Viewing ${shownPath({ io }, files.rollouts)} at ${terminal.bold(server.url)}`);
      out("Press Ctrl-C to stop.");
    }
    await aborted(signal);
  } finally {
    await server.close();
    await following;
  }
  return 0;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
