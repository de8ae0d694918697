import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { chromium, type Page } from "playwright-core";
import { request } from "undici";
import { installRoot } from "../src/config/paths.ts";
import { treeMemoryMb } from "../src/hosting/processes/process-tree.ts";
import { RolloutFile } from "../src/viewer/index/rollout-file.ts";
import { TextSearch } from "../src/viewer/query/text-search.ts";
import { loadWebFiles } from "../src/viewer/web-files.ts";
import { whileGymRuns } from "./gym-program.ts";
import type { Report } from "./report.ts";
import { writeLargeRollout, writeRollouts, writeShortRollouts } from "./viewer-files.ts";

export const name = "viewer";

/** How long a gigabyte takes until it can be looked at and searched, and what large files and long lists cost. */
export async function run(report: Report): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "bench-viewer-"));
  const file = (base: string) => path.join(directory, `${base}.jsonl`);
  try {
    await pages(report);
    const rows = await writeRollouts(file("gigabyte"), 1e9);
    await firstRows(report, file("gigabyte"));
    await rm(file("gigabyte_index").replace(/jsonl$/, "bin"), { force: true });
    await indexAndSearch(report, file("gigabyte"), rows);
    await rm(file("gigabyte"));
    await writeLargeRollout(file("large"), 1e8);
    await largeRollout(report, file("large"));
    await writeShortRollouts(file("million"), 1e6);
    await manyRows(report, file("million"));
    await rm(file("million"));
    await writeShortRollouts(file("scrolled"), 1e5);
    await scrolling(report, file("scrolled"));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** CPU seconds that something takes. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function pages(report: Report): Promise<void> {
  const files = await loadWebFiles(path.join(installRoot(), "dist/viewer"));
  let bytes = 0;
  for (const [address, { gzip }] of files) if (address !== "/") bytes += gzip.length;
  const shown = `${Math.round(bytes / 1000)} kB`;
  report.check(`pages, all of them, at most 300 kB compressed: ${shown}`, bytes <= 300_000);
}

async function indexAndSearch(report: Report, file: string, rows: number): Promise<void> {
  const cold = new RolloutFile(file);
  const coldSeconds = await cpuOf(() => cold.update());
  const search = new TextSearch(cold, "nobody says this");
  const searchSeconds = await cpuOf(() => search.advance());
  await cold.close();
  const warm = new RolloutFile(file);
  const warmSeconds = await cpuOf(() => warm.update());
  await warm.close();
  const shown = (seconds: number) => `${seconds.toFixed(2)} s CPU`;
  report.check(
    `index of 1 GB, cold, at most 3 s CPU (${rows} rows): ${shown(coldSeconds)}`,
    coldSeconds <= 3,
  );
  report.check(`index of 1 GB, warm, at most 0.3 s CPU: ${shown(warmSeconds)}`, warmSeconds <= 0.3);
  report.check(`search of 1 GB, at least 0.7 GB/s of CPU: ${shown(searchSeconds)}`, searchSeconds <= 1 / 0.7);
}

/** Runs the viewer on a file while `use` asks it. */
async function viewing<T>(
  file: string,
  use: (viewer: { ask: (address: string) => Promise<unknown>; pid: number; url: string }) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const words = ["eval", "view", file, "--no-token", "--port", String(port)];
  const ask = async (address: string) => (await request(`${url}api/${address}`)).body.json();
  return whileGymRuns(words, path.dirname(file), "Viewing", (pid) => use({ ask, pid, url }));
}

async function indexed(ask: (address: string) => Promise<unknown>): Promise<void> {
  while (((await ask("status")) as { indexing: boolean }).indexing)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** From the command to the first hundred rows. */
async function firstRows(report: Report, file: string): Promise<void> {
  const started = performance.now();
  await viewing(file, async ({ ask }) => {
    while (((await ask("rollouts?limit=100")) as { rows: unknown[] }).rows.length < 100);
    const seconds = (performance.now() - started) / 1000;
    report.check(`first rows of 1 GB within 0.7 s: ${seconds.toFixed(2)} s`, seconds <= 0.7);
    await indexed(ask);
  });
}

async function largeRollout(report: Report, file: string): Promise<void> {
  await viewing(file, async ({ ask, pid, url }) => {
    await indexed(ask);
    const started = performance.now();
    const text = await (await request(`${url}api/row?line=1`)).body.text();
    const seconds = (performance.now() - started) / 1000;
    const { elided } = JSON.parse(text) as { elided: unknown[] };
    const sent = `${seconds.toFixed(2)} s, ${(text.length / 1e6).toFixed(1)} MB sent`;
    report.check(
      `a rollout of 100 MB opens, its long values cut: ${sent}, ${elided.length} cut, server ${mb(pid)}`,
      elided.length > 0 && text.length < 16e6,
    );
  });
}

async function manyRows(report: Report, file: string): Promise<void> {
  const started = performance.now();
  await viewing(file, async ({ ask, pid }) => {
    await indexed(ask);
    const seconds = (performance.now() - started) / 1000;
    for (const address of ["overview", "tasks?by=variance", "rollouts?offset=900000", "rollouts?sort=reward"])
      await ask(address);
    const most = treeMemoryMb(pid, "VmHWM");
    const now = treeMemoryMb(pid, "VmRSS");
    report.check(
      `server with 10^6 rows at most 250 MB: ${Math.round(now)} MB, ${Math.round(most)} MB at the most (indexed after ${seconds.toFixed(1)} s)`,
      now <= 250,
    );
  });
}

/** Scrolls a list of 100,000 rollouts and counts frames. */
async function scrolling(report: Report, file: string): Promise<void> {
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) return report.check(`scrolling: there is no ${executablePath}`, false);
  await viewing(file, async ({ ask, url }) => {
    await indexed(ask);
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      for (const [hash, selector] of [
        ["#/rollouts", ".rows"],
        ["#/tasks", ".grid-rows"],
      ] as const) {
        await page.goto(url + hash);
        await page.locator(selector).waitFor();
        await page.waitForTimeout(1000);
        const { median, p95 } = await framesWhileScrolling(page, selector);
        report.check(
          `100,000 rollouts scroll at 50 frames a second (${hash}): median ${median.toFixed(1)} ms a frame, p95 ${p95.toFixed(1)} ms`,
          median <= 20,
        );
      }
    } finally {
      await browser.close();
    }
  });
}

/** Milliseconds between frames while a list moves by 40 px in each, for five seconds. */
async function framesWhileScrolling(page: Page, selector: string): Promise<{ median: number; p95: number }> {
  const gaps = await page.evaluate<number[]>(`new Promise((resolve) => {
    const list = document.querySelector(${JSON.stringify(selector)});
    const gaps = [];
    const start = performance.now();
    let before = start;
    const frame = (now) => {
      gaps.push(now - before);
      before = now;
      list.scrollTop += 40;
      if (now - start < 5000) requestAnimationFrame(frame); else resolve(gaps);
    };
    requestAnimationFrame(frame);
  })`);
  gaps.sort((a, b) => a - b);
  const at = (share: number) => gaps[Math.floor(gaps.length * share)] ?? 0;
  return { median: at(0.5), p95: at(0.95) };
}

function mb(pid: number): string {
  return `${Math.round(treeMemoryMb(pid, "VmRSS"))} MB`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
