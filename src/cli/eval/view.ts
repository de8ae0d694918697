import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { isLoopback } from "../../base/door.ts";
import { withTemporaryDirectory } from "../../base/files/door.ts";
import {
  loadWebFiles,
  newToken,
  parseQuery,
  QueryError,
  readRequest,
  refOf,
  rolloutsHtml,
  ViewerServer,
  type WebFiles,
  Workspace,
  writeStaticFolder,
} from "../../viewer/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { shownPath } from "../files.ts";
import { openBrowser } from "../open-browser.ts";
import { viewKeys } from "./keys.ts";
import { ViewInput } from "./view-input.ts";

const MAX_IN_HTML = 500;
const MAX_COMPARED = 6;

interface ViewFlags {
  "allow-host": readonly string[];
  where: string | undefined;
  "read-only": boolean;
  "no-token": boolean;
  open: boolean;
  "to-html": string | undefined;
  "to-folder": string | undefined;
}

/** Runs `gym eval view`: serves the viewer until Ctrl-C, or writes static pages. */
export async function viewRun(
  context: CommandContext,
  flags: ViewFlags,
  others: readonly string[],
): Promise<number> {
  if (others.length >= MAX_COMPARED)
    throw new UsageError(`at most ${MAX_COMPARED} runs can be compared, not ${others.length + 1}`);
  const keys = readKeys(viewKeys, await context.resolve());
  checkQuery(flags.where);
  const webFiles = await loadWebFiles(path.join(context.installRoot, "dist", "viewer"));
  return withTemporaryDirectory("viewer", async (directory) => {
    const input = new ViewInput(context, directory);
    await input.add(keys.jsonl_fpath, "RUN");
    for (const other of others) await input.add(other, "OTHER");
    const workspace = await Workspace.open(input.files, input.copies);
    try {
      if (flags["to-html"] !== undefined || flags["to-folder"] !== undefined)
        return await writePages(context, workspace, webFiles, flags);
      const page = startPage(workspace, flags.where, others.length > 0);
      return await serve(context, workspace, webFiles, { ...flags, ...keys, page });
    } finally {
      await workspace.close();
    }
  });
}

async function serve(
  context: CommandContext,
  workspace: Workspace,
  webFiles: WebFiles,
  options: ViewFlags & { server_host: string; server_port: number; page: string },
): Promise<number> {
  const { io, out, err, json, terminal, signal } = context;
  const { server_host: host, server_port: port, page, "no-token": noToken } = options;
  const token = noToken ? undefined : newToken();
  const server = await ViewerServer.listen({
    workspace,
    webFiles,
    readOnly: options["read-only"],
    token,
    host,
    port,
    allowedHosts: options["allow-host"],
  });
  const { only } = workspace;
  const url = `${server.url}${page}`;
  // Reads what the browser will request first.
  if (only) await workspace.run(null);
  try {
    if (json) {
      const file = only ? (workspace.originOf(only) ?? only.rollouts) : workspace.root;
      const about = { url, host, port: server.port, token: token ?? null, runs: workspace.size, file };
      out(JSON.stringify(about));
    } else {
      if (server.port !== port && port !== 0)
        err(terminal.yellow(`Port ${port} is in use; using ${server.port}.`));
      const readers = `Everyone who can reach this machine${noToken ? "" : " and has this address"}`;
      if (!isLoopback(host)) err(terminal.yellow(`${readers} can read the rollouts.`));
      const what = only
        ? (workspace.originOf(only) ?? shownPath({ io }, only.rollouts))
        : `${workspace.size} runs in ${shownPath({ io }, workspace.root)}`;
      out(`Viewing ${what} at ${terminal.bold(url)}`);
      out("Press Ctrl-C to stop.");
    }
    if (options.open)
      openBrowser(`${server.oneTimeUrl()}${page}`, (reason) =>
        err(terminal.yellow(`No browser was opened: ${reason}. Open ${url} yourself.`)),
      );
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await server.close();
  }
  return 0;
}

/** The first page: the comparison of the runs in their order, the rollouts of a query, or the overview. */
function startPage(workspace: Workspace, where: string | undefined, isComparison: boolean): string {
  if (isComparison && workspace.size >= 2) {
    const ids = workspace.ids.slice(0, MAX_COMPARED).map(encodeURIComponent);
    return `#/compare?runs=${ids.join(",")}`;
  }
  return where === undefined ? "" : `#/rollouts?q=${encodeURIComponent(where)}`;
}

async function writePages(
  context: CommandContext,
  workspace: Workspace,
  webFiles: WebFiles,
  { where, "to-html": toHtml, "to-folder": toFolder }: ViewFlags,
): Promise<number> {
  const { io, out, err, json, signal } = context;
  const { only } = workspace;
  if (only === undefined)
    throw new UsageError(`${workspace.size} runs were found; name one of them to write it as pages`);
  const run = await workspace.readRun(null, signal);
  if (toFolder !== undefined) {
    const folder = path.resolve(io.cwd, toFolder);
    let reportedAt = 0;
    const onProgress = (done: number, total: number) => {
      if (json || performance.now() - reportedAt < 2000) return;
      reportedAt = performance.now();
      err(`${done} of ${total} rollouts`);
    };
    const written = await writeStaticFolder(run, folder, webFiles, { onProgress, signal });
    out(
      json
        ? JSON.stringify({ folder, ...written })
        : `${written.rows} rollouts in ${written.files} files: ${shownPath({ io }, folder)}`,
    );
    return 0;
  }
  const q = where ?? "";
  const request = { ...readRequest(new URLSearchParams()), q, terms: parseQuery(q) };
  const codes = await run.selected(request, signal);
  if (codes.length === 0) throw new UsageError("no rollout matches --where");
  if (codes.length > MAX_IN_HTML)
    throw new UsageError(
      `${codes.length} rollouts are too many for one file (at most ${MAX_IN_HTML}); choose with --where, or write a folder with --to-folder`,
    );
  const refs = Array.from(codes, refOf);
  const file = path.resolve(io.cwd, toHtml ?? "");
  await writeFile(file, await rolloutsHtml(run, refs, webFiles));
  out(
    json
      ? JSON.stringify({ file, rows: refs.length })
      : `${refs.length} rollouts: ${shownPath({ io }, file)}`,
  );
  return 0;
}

function checkQuery(where: string | undefined): void {
  try {
    parseQuery(where ?? "");
  } catch (error) {
    if (error instanceof QueryError) throw new UsageError(`argument --where: ${error.message}`);
    throw error;
  }
}
