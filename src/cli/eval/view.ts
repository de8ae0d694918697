import { writeFile } from "node:fs/promises";
import path from "node:path";
import { withTemporaryDirectory } from "../../files/private-directory.ts";
import { isLoopback } from "../../request-guard.ts";
import { newToken } from "../../viewer/access-token.ts";
import { parseQuery, QueryError } from "../../viewer/query/query.ts";
import { isFailureRow, rowOf } from "../../viewer/query/select-rows.ts";
import { Workspace } from "../../viewer/run/workspace.ts";
import { ViewerServer } from "../../viewer/server.ts";
import { everything } from "../../viewer/share/embed-run.ts";
import { rolloutsHtml } from "../../viewer/share/rollouts-html.ts";
import { writeStaticFolder } from "../../viewer/share/static-folder.ts";
import { loadWebFiles, type WebFiles } from "../../viewer/web-files.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { shownPath } from "../files.ts";
import { viewKeys } from "./keys.ts";
import { ViewInput } from "./view-input.ts";
import { openBrowser } from "./view-open.ts";

const MAX_IN_HTML = 500;

interface ViewOptions {
  allowedHosts: readonly string[];
  other: string | undefined;
  where: string | undefined;
  readOnly: boolean;
  noToken: boolean;
  open: boolean;
  toHtml: string | undefined;
  toFolder: string | undefined;
}

/** Runs `gym eval view`: serves the viewer until Ctrl-C, or writes static pages. */
export async function viewRun(context: CommandContext, options: ViewOptions): Promise<number> {
  const keys = readKeys(viewKeys, await context.resolve());
  checkQuery(options.where);
  const webFiles = await loadWebFiles(path.join(context.installRoot, "dist", "viewer"));
  return withTemporaryDirectory("viewer", async (directory) => {
    const input = new ViewInput(context, directory);
    await input.add(keys.jsonl_fpath, "RUN");
    if (options.other !== undefined) await input.add(options.other, "OTHER");
    const workspace = await Workspace.open(input.files, input.copies);
    try {
      if (options.toHtml !== undefined || options.toFolder !== undefined)
        return await writePages(context, workspace, webFiles, options);
      return await serve(context, workspace, webFiles, options, keys);
    } finally {
      await workspace.close();
    }
  });
}

async function serve(
  context: CommandContext,
  workspace: Workspace,
  webFiles: WebFiles,
  { allowedHosts, where, readOnly, noToken, open, other }: ViewOptions,
  { server_host: host, server_port }: { server_host: string; server_port: number },
): Promise<number> {
  const { io, out, err, json, terminal, signal } = context;
  const token = noToken ? undefined : newToken();
  const server = await ViewerServer.listen({
    workspace,
    webFiles,
    readOnly,
    token,
    host,
    port: server_port,
    allowedHosts,
  });
  const { only } = workspace;
  const page = await startPage(workspace, { where, isComparison: other !== undefined });
  const url = `${server.url}${page}`;
  // Reads what the browser will request first.
  if (only) await workspace.run(null);
  try {
    if (json) {
      const about = { url, host, port: server.port, token: token ?? null, runs: workspace.size };
      out(
        JSON.stringify({
          ...about,
          file: only ? (workspace.originOf(only) ?? only.rollouts) : workspace.root,
        }),
      );
    } else {
      if (server.port !== server_port && server_port !== 0)
        err(terminal.yellow(`Port ${server_port} is taken; using ${server.port}.`));
      if (!isLoopback(host))
        err(
          terminal.yellow(
            noToken
              ? "Everyone who can reach this machine can read the rollouts."
              : "Everyone who can reach this machine and has this address can read the rollouts.",
          ),
        );
      const what = only
        ? (workspace.originOf(only) ?? shownPath({ io }, only.rollouts))
        : `${workspace.size} runs in ${shownPath({ io }, workspace.root)}`;
      out(`Viewing ${what} at ${terminal.bold(url)}`);
      out("Press Ctrl-C to stop.");
    }
    if (open)
      openBrowser(`${server.oneTimeUrl()}${page}`, (reason) =>
        err(terminal.yellow(`No browser was opened: ${reason}. Open ${url} yourself.`)),
      );
    await aborted(signal);
  } finally {
    await server.close();
  }
  return 0;
}

/** The first page: the comparison of two runs, the rollouts of a query, or the overview. */
async function startPage(
  workspace: Workspace,
  { where, isComparison }: { where: string | undefined; isComparison: boolean },
): Promise<string> {
  if (isComparison && workspace.size >= 2) {
    const ids = (await workspace.list()).runs.map(({ id }) => encodeURIComponent(id));
    return `#/compare?runs=${ids.slice(0, 6).reverse().join(",")}`;
  }
  if (where === undefined) return "";
  return `#/rollouts?q=${encodeURIComponent(where)}`;
}

async function writePages(
  context: CommandContext,
  workspace: Workspace,
  webFiles: WebFiles,
  { where, toHtml, toFolder }: ViewOptions,
): Promise<number> {
  const { io, out, err, json, signal } = context;
  const { only } = workspace;
  if (only === undefined)
    throw new UsageError(`${workspace.size} runs were found; name one of them to write it as pages`);
  const run = await workspace.readRun(null, signal);
  if (toFolder !== undefined) {
    const folder = path.resolve(io.cwd, toFolder);
    let told = 0;
    const onProgress = (done: number, total: number) => {
      if (json || performance.now() - told < 2000) return;
      told = performance.now();
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
  const terms = parseQuery(where ?? "");
  const codes = await run.selected({ ...everything(), q: where ?? "", terms }, signal);
  if (codes.length === 0) throw new UsageError("no rollout passes --where");
  if (codes.length > MAX_IN_HTML)
    throw new UsageError(
      `${codes.length} rollouts are too many for one file (at most ${MAX_IN_HTML}); choose with --where, or write a folder with --to-folder`,
    );
  const refs = [...codes].map(
    (code) => ({ source: isFailureRow(code) ? "failures" : "rollouts", line: rowOf(code) + 1 }) as const,
  );
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
