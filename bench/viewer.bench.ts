import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { installRoot } from "../src/config/paths.ts";
import { indexPath } from "../src/viewer/index/index-file.ts";
import { RolloutFile } from "../src/viewer/index/rollout-file.ts";
import { TextSearch } from "../src/viewer/query/text-search.ts";
import { loadWebFiles } from "../src/viewer/web-files.ts";
import { treeMemoryMb } from "./process-usage.ts";
import { cpuMsOf, median, type Report } from "./report.ts";
import { manyRuns } from "./viewer-board.ts";
import { writeLargeRollout, writeRollouts, writeShortRollouts } from "./viewer-files.ts";
import { pagesInBrowser } from "./viewer-pages.ts";
import { indexed, timed, type Viewing, viewing } from "./viewer-program.ts";

export const name = "viewer";

/** The time until a gigabyte can be viewed and searched, the cost of large files and long lists, and the speed of the pages. */
export async function run(report: Report, directory: string): Promise<void> {
  const file = (base: string) => path.join(directory, `${base}.jsonl`);
  await bundle(report);
  const rows = await writeRollouts(file("gigabyte"), 1e9);
  await firstRows(report, file("gigabyte"));
  await lastRow(report, file("gigabyte"), rows);
  await rm(indexPath(file("gigabyte")));
  await indexAndSearch(report, file("gigabyte"), rows);
  await firstHit(report, file("gigabyte"));
  await rm(file("gigabyte"));
  await writeLargeRollout(file("large"), 1e8);
  await largeRollout(report, file("large"));
  await writeShortRollouts(file("million"), 1e6);
  await manyRows(report, file("million"));
  await rm(file("million"));
  await writeShortRollouts(file("filtered"), 1e5);
  await filters(report, file("filtered"));
  await manyRuns(report, directory);
  await pagesInBrowser(report, file);
}

async function bundle(report: Report): Promise<void> {
  const files = await loadWebFiles(path.join(installRoot(), "dist/viewer"));
  let bytes = 0;
  for (const [address, { gzip }] of files) if (address !== "/") bytes += gzip.length;
  const shown = `${Math.round(bytes / 1000)} kB`;
  report.check(`pages, all of them, at most 300 kB compressed: ${shown}`, bytes <= 300_000);
}

async function indexAndSearch(report: Report, file: string, rows: number): Promise<void> {
  const cold = new RolloutFile(file);
  const coldSeconds = (await cpuMsOf(() => cold.update())) / 1000;
  const search = new TextSearch(cold, "nobody says this");
  const searchSeconds = (await cpuMsOf(() => search.advance())) / 1000;
  await cold.close();
  const warm = new RolloutFile(file);
  const warmSeconds = (await cpuMsOf(() => warm.update())) / 1000;
  await warm.close();
  const shown = (seconds: number) => `${seconds.toFixed(2)} s CPU`;
  report.check(
    `index of 1 GB, cold, at most 3 s CPU (${rows} rows): ${shown(coldSeconds)}`,
    coldSeconds <= 3,
  );
  report.check(`index of 1 GB, warm, at most 0.3 s CPU: ${shown(warmSeconds)}`, warmSeconds <= 0.3);
  report.check(`search of 1 GB, at least 0.7 GB/s of CPU: ${shown(searchSeconds)}`, searchSeconds <= 1 / 0.7);
}

interface Rows {
  rows: unknown[];
}

/** From the command to the first hundred rows. */
async function firstRows(report: Report, file: string): Promise<void> {
  const started = performance.now();
  await viewing(file, async (viewer) => {
    while (((await viewer.ask("rollouts?limit=100")) as Rows).rows.length < 100);
    const seconds = (performance.now() - started) / 1000;
    report.check(`first rows of 1 GB within 0.7 s: ${seconds.toFixed(2)} s`, seconds <= 0.7);
    await indexed(viewer);
  });
}

/** The time from the command to the row of the link to the last rollout: with the index of the first start, and without. */
async function lastRow(report: Report, file: string, rows: number): Promise<void> {
  const link = `rollouts?q=${encodeURIComponent(`task=${Math.floor((rows - 1) / 8)} repeat=${(rows - 1) % 8}`)}`;
  const secondsUntilFound = async () => {
    const started = performance.now();
    return viewing(file, async (viewer) => {
      // As often as a page polls; with each response the server counts rows instead of reading on.
      while (((await viewer.ask(link)) as Rows).rows.length === 0) await sleep(100);
      const seconds = (performance.now() - started) / 1000;
      await indexed(viewer);
      return seconds;
    });
  };
  const warm = await secondsUntilFound();
  report.check(`link to the last row of 1 GB, warm, within 0.7 s: ${warm.toFixed(2)} s`, warm <= 0.7);
  await rm(indexPath(file));
  const cold = await secondsUntilFound();
  report.check(`link to the last row of 1 GB, cold, within 3 s: ${cold.toFixed(2)} s`, cold <= 3);
}

/** Searches texts of the first rows; each search runs to the end before the next. */
async function firstHit(report: Report, file: string): Promise<void> {
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const times: number[] = [];
    for (let row = 0; row < 5; row++) {
      const address = `rollouts?q=resp_${row}`;
      times.push(
        await timed(async () => {
          while (((await viewer.ask(address)) as Rows).rows.length === 0);
        }),
      );
      await searched(viewer, address);
    }
    const ms = median(times);
    report.check(`first hit of a search in 1 GB within 200 ms: ${Math.round(ms)} ms`, ms < 200);
  });
}

async function searched({ ask }: Viewing, address: string): Promise<void> {
  while (!((await ask(address)) as { search: { done: boolean } }).search.done);
}

async function largeRollout(report: Report, file: string): Promise<void> {
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const started = performance.now();
    const text = await (await request(`${viewer.url}api/row?line=1`)).body.text();
    const seconds = (performance.now() - started) / 1000;
    const { elided } = JSON.parse(text) as { elided: unknown[] };
    const sent = `${seconds.toFixed(2)} s, ${(text.length / 1e6).toFixed(1)} MB sent`;
    const memory = `${Math.round(treeMemoryMb(viewer.pid, "VmRSS"))} MB`;
    report.check(
      `a rollout of 100 MB within 1 s, its long values cut: ${sent}, ${elided.length} cut, server ${memory}`,
      seconds < 1 && elided.length > 0 && text.length < 16e6,
    );
  });
}

async function manyRows(report: Report, file: string): Promise<void> {
  const started = performance.now();
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const seconds = (performance.now() - started) / 1000;
    for (const address of ["overview", "tasks?by=variance", "rollouts?offset=900000"])
      await viewer.ask(address);
    const sorting = await timed(() => viewer.ask("rollouts?sort=reward"));
    const most = treeMemoryMb(viewer.pid, "VmHWM");
    const now = treeMemoryMb(viewer.pid, "VmRSS");
    report.check(
      `server with 10^6 rows at most 250 MB: ${Math.round(now)} MB, ${Math.round(most)} MB at the most (indexed after ${seconds.toFixed(1)} s)`,
      now <= 250,
    );
    report.check(`10^6 rows sorted within 1 s: ${Math.round(sorting)} ms`, sorting <= 1000);
  });
}

async function filters(report: Report, file: string): Promise<void> {
  const queries = ["reward<0.5", "tokens>10", "turns=1", "agent:solver", "is:zero", "task<5000 -is:failed"];
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const times: number[] = [];
    for (const query of queries)
      times.push(await timed(() => viewer.ask(`rollouts?q=${encodeURIComponent(query)}`)));
    const shown = `median ${Math.round(median(times))} ms, at most ${Math.round(Math.max(...times))} ms`;
    report.check(`100,000 rows filtered by a field within 100 ms: ${shown}`, median(times) < 100);
  });
}
