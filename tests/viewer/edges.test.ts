import { rm } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { eventually, lines, openPage, rollout, startViewer, visit } from "./support.ts";

const executable = findBrowser();
const BOARD = "#####\n#_X_#\n#P_O#\n#####";
const REPEATS = 60;

describe.skipIf(executable === undefined)("the viewer", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  it("shows boards, many repeats, and lists without rows", async () => {
    const asked = { responses_create_params: { input: `Solve:\n${BOARD}\nYour *turn*.` } };
    const rows = Array.from({ length: REPEATS }, (_, index) => rollout(0, index, "Up.", asked));
    const cwd = await project({ "run.jsonl": lines(rows) });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/sample/1`);
    const message = page.locator(".item.user .item-body");
    await message.locator("em").waitFor();
    expect(await message.locator(".markdown pre").textContent()).toBe(BOARD);
    await page.keyboard.press("m");
    const plain = message.locator("pre");
    await eventually(() => plain.textContent()).toContain(`${BOARD}\nYour *turn*.`);
    const font = await page.evaluate("getComputedStyle(document.querySelector('.item.user pre')).fontFamily");
    expect(font).toContain("monospace");

    // The last repeat is scrolled to inside the grid; the page does not become wider.
    await visit(page, "#/tasks");
    const last = page.locator(".row-place .cell").nth(REPEATS - 1);
    await last.waitFor();
    await last.scrollIntoViewIfNeeded();
    const box = await last.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(1300);
    expect(await page.locator(".grid-rows").evaluate((grid) => grid.scrollLeft)).toBeGreaterThan(0);
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);
    // The number of the task stays in sight.
    expect((await page.locator(".row-place .task-name").boundingBox())?.x).toBeGreaterThanOrEqual(0);
    await last.click();
    await page.waitForURL(new RegExp(`/task/0/rollout/${REPEATS - 1}`));

    await visit(page, "#/rollouts?q=nowhere");
    await page.getByText("No rollout matches the filter").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await eventually(() => page.locator(".list-state").textContent()).toContain(`${REPEATS} rows`);
    await rm(path.join(cwd, "run.jsonl"));
    await page.getByText("run.jsonl was removed or renamed.").waitFor();
    expect(await page.getByText(/no rollouts yet/i).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("asks again for figures until a search is done", async () => {
    const rows = [rollout(0, 0, "needle"), rollout(1, 0, "needle"), rollout(2, 0, "hay")];
    const cwd = await project({ "run.jsonl": lines(rows) });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/rollouts`);
    // The first answers are those of a search that has not found anything yet.
    for (const [address, nothing] of [
      ["overview", { rewarded: 0, reward: null, passed: 0, complete: false }],
      ["tasks", { total: 0, tasks: [] }],
    ] as const) {
      let answers = 0;
      await page.route(`**/api/${address}?*`, async (route) => {
        const response = await route.fetch();
        const whole = (await response.json()) as object;
        const search = { done: false, searched_rows: 0, rows: 3 };
        answers++;
        await route.fulfill({ response, json: answers === 1 ? { ...whole, ...nothing, search } : whole });
      });
      await visit(page, `#/${address}?q=needle`);
      if (address === "tasks") await eventually(() => page.locator(".row-place .task-row").count()).toBe(2);
      else
        await page
          .getByText(/1\.0000/)
          .first()
          .waitFor();
      expect(answers).toBeGreaterThan(1);
    }
    expect(problems).toEqual([]);
  });
});
