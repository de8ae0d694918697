import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { treeCpuMs } from "./process-usage.ts";
import { median, type Report } from "./report.ts";
import { shortRollout, writeLargeRollout, writeShortRollouts } from "./viewer-files.ts";
import { indexed, timed, viewing } from "./viewer-program.ts";

const SCROLLED_PIXELS = 40;
const APPENDED = 21;
const IDLE_SECONDS = 10;
const SHOWN_WITHIN_MS = 30_000;

/** Waiting times of a reader in Chromium; `file` returns a path for a file. */
export async function pagesInBrowser(report: Report, file: (base: string) => string): Promise<void> {
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) return report.check(`pages: there is no ${executablePath}`, false);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    await writeLargeRollout(file("painted"), 1e8);
    await largeRollout(report, browser, file("painted"));
    await writeLargeRollout(file("turns"), 1.5e6);
    await manyTurns(report, browser, file("turns"));
    await writeShortRollouts(file("scrolled"), 1e5);
    await longLists(report, browser, file("scrolled"));
    await writeShortRollouts(file("growing"), 100);
    await growing(report, browser, file("growing"));
  } finally {
    await browser.close();
  }
}

function newPage(browser: Browser): Promise<Page> {
  return browser.newPage({ viewport: { width: 1440, height: 900 } });
}

async function largeRollout(report: Report, browser: Browser, file: string): Promise<void> {
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const page = await newPage(browser);
    const ms = await timed(async () => {
      await page.goto(`${viewer.url}#/task/0/rollout/0`);
      await page.locator(".item").first().waitFor();
    });
    report.check(`a rollout of 100 MB is painted within 3 s: ${(ms / 1000).toFixed(2)} s`, ms <= 3000);
  });
}

async function manyTurns(report: Report, browser: Browser, file: string): Promise<void> {
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const page = await newPage(browser);
    await page.goto(`${viewer.url}#/task/0/rollout/0`);
    await page.locator(".item").first().waitFor();
    await checkScrolling(report, page, ".rollout-pane", "a rollout of 300 turns");
  });
}

async function longLists(report: Report, browser: Browser, file: string): Promise<void> {
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const page = await newPage(browser);
    for (const [hash, selector] of [
      ["#/rollouts", ".rows"],
      ["#/tasks", ".grid-rows"],
    ] as const) {
      await page.goto(viewer.url + hash);
      await page.locator(selector).waitFor();
      await checkScrolling(report, page, selector, `100,000 rollouts (${hash})`);
    }
  });
}

async function checkScrolling(report: Report, page: Page, selector: string, what: string): Promise<void> {
  await page.waitForTimeout(1000);
  const gaps = await framesWhileScrolling(page, selector);
  const middle = median(gaps);
  const p95 = gaps.sort((a, b) => a - b)[Math.floor(gaps.length * 0.95)] ?? 0;
  report.check(
    `${what} scrolls at 50 frames a second: median ${middle.toFixed(1)} ms a frame, p95 ${p95.toFixed(1)} ms`,
    middle <= 20,
  );
}

/** Milliseconds between frames while an element scrolls a little in each frame, for five seconds. */
async function framesWhileScrolling(page: Page, selector: string): Promise<number[]> {
  return page.evaluate<number[]>(`new Promise((resolve) => {
    const list = document.querySelector(${JSON.stringify(selector)});
    const gaps = [];
    const start = performance.now();
    let before = start;
    const frame = (now) => {
      gaps.push(now - before);
      before = now;
      list.scrollTop += ${SCROLLED_PIXELS};
      if (now - start < 5000) requestAnimationFrame(frame); else resolve(gaps);
    };
    requestAnimationFrame(frame);
  })`);
}

/** A growing file: the time from the append to the screen, and the CPU of the viewer while idle. */
async function growing(report: Report, browser: Browser, file: string): Promise<void> {
  await viewing(file, async (viewer) => {
    await indexed(viewer);
    const page = await newPage(browser);
    await page.goto(`${viewer.url}#/rollouts`);
    await shown(page, 100);
    const delays: number[] = [];
    for (let row = 100; row < 100 + APPENDED; row++) {
      // At different phases of the server's polling interval.
      await sleep(300 + ((row * 37) % 200));
      const onScreen = shown(page, row + 1);
      delays.push(
        await timed(async () => {
          await appendFile(file, shortRollout(row));
          await onScreen;
        }),
      );
    }
    const middle = median(delays);
    const most = Math.max(...delays);
    report.check(
      `an appended row is on the screen within 1 s: median ${Math.round(middle)} ms, at most ${Math.round(most)} ms`,
      middle < 1000,
    );
    const before = treeCpuMs(viewer.pid);
    await sleep(IDLE_SECONDS * 1000);
    const used = treeCpuMs(viewer.pid) - before;
    report.check(
      `idle with a page open, at most 100 ms CPU in ${IDLE_SECONDS} s: ${Math.round(used)} ms`,
      used <= 100,
    );
  });
}

/** Waits for the frame in which the list counts this many rollouts. */
function shown(page: Page, rollouts: number): Promise<void> {
  return page.evaluate<void>(`new Promise((resolve, reject) => {
    const start = performance.now();
    const frame = () => {
      const text = document.querySelector(".list-state")?.textContent ?? "no list";
      if (text.includes("${rollouts} rollouts")) resolve();
      else if (performance.now() - start < ${SHOWN_WITHIN_MS}) requestAnimationFrame(frame);
      else reject(new Error("The list does not count ${rollouts} rollouts: " + text));
    };
    frame();
  })`);
}
