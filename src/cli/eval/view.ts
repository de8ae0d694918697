import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { withTemporaryDirectory } from "../../files/private-directory.ts";
import { isLoopback } from "../../request-guard.ts";
import { shellGlob } from "../../results/shell-glob.ts";
import { RolloutFileError } from "../../rollouts/errors.ts";
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
import { UsageError } from "../usage-error.ts";
import { viewKeys } from "./keys.ts";
import { rolloutFile, shownPath } from "./rollout-file.ts";

const DEFAULT_RUN = "results";
const MAX_IN_HTML = 500;
const WEB_ADDRESS = /^https?:\/\//i;

interface ViewOptions {
  allowedHosts: readonly string[];
  other: string | undefined;
  where: string | undefined;
  readOnly: boolean;
  noToken: boolean;
  toHtml: string | undefined;
  toFolder: string | undefined;
}

/** Runs `gym eval view`: serves the viewer until Ctrl-C, or writes static pages. */
export async function viewRun(context: CommandContext, options: ViewOptions): Promise<number> {
  const keys = readKeys(viewKeys, await context.resolve());
  checkQuery(options.where);
  const webFiles = await loadWebFiles(path.join(context.installRoot, "dist", "viewer"));
  return withTemporaryDirectory("viewer", async (directory) => {
    const given: string[] = [];
    for (const [name, flag] of [
      [keys.jsonl_fpath ?? DEFAULT_RUN, "RUN"],
      [options.other, "OTHER"],
    ] as const)
      if (name !== undefined) given.push(...(await filesOf(context, name, flag, directory)));
    const workspace = await Workspace.open(given);
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
  { allowedHosts, where, readOnly, noToken, other }: ViewOptions,
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
  // What the browser will ask for first is read meanwhile.
  if (only) await workspace.run(null);
  try {
    if (json) {
      const about = { url, host, port: server.port, token: token ?? null, runs: workspace.size };
      out(JSON.stringify({ ...about, file: only?.rollouts ?? workspace.root }));
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
        ? shownPath({ io }, only.rollouts)
        : `${workspace.size} runs in ${shownPath({ io }, workspace.root)}`;
      out(`Viewing ${what} at ${terminal.bold(url)}`);
      out("Press Ctrl-C to stop.");
    }
    await aborted(signal);
  } finally {
    await server.close();
  }
  return 0;
}

/** Where the browser begins: the comparison of two runs, the rollouts of a query, or the overview. */
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

/** The files and directories that a word stands for. */
async function filesOf(
  context: CommandContext,
  name: string,
  flag: string,
  directory: string,
): Promise<string[]> {
  if (WEB_ADDRESS.test(name)) return [await downloaded(context, name, directory)];
  const there = await stat(path.resolve(context.io.cwd, name)).catch(() => undefined);
  if (!there && /[*?[]/.test(name)) {
    const found = await shellGlob(name, context.io.cwd);
    const rollouts = found.map((file) => path.resolve(context.io.cwd, file));
    if (rollouts.length > 0) return rollouts;
    throw new RolloutFileError("ROLLOUT_FILE_MISSING", name, `No file matches '${name}' (${flag}).`);
  }
  if (!there && flag === "RUN" && name === DEFAULT_RUN)
    throw new RolloutFileError(
      "ROLLOUT_FILE_MISSING",
      name,
      "There is no directory 'results' here. Name a rollouts file or the directory of a run: gym eval view RUN.",
    );
  return [await rolloutFile(context, name, flag, { directory: true })];
}

/** A file on the web, fetched into a directory that is removed at the end. */
async function downloaded(
  { err, json, signal }: CommandContext,
  address: string,
  directory: string,
): Promise<string> {
  const { downloadFile } = await import("../../remote/download-file.ts");
  const url = new URL(address);
  const name = path.posix.basename(url.pathname).replace(/[^\w.-]/g, "_") || "rollouts.jsonl";
  const destination = path.join(directory, name.endsWith(".jsonl") ? name : `${name}.jsonl`);
  if (!json) err(`Fetching ${address}`);
  await downloadFile({ url: address, destination, signal });
  return destination;
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
