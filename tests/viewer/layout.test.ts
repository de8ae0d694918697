import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { writeDemoRuns } from "../../scripts/viewer/demo-runs.ts";
import type { TaskList } from "../../src/viewer/api-types.ts";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import {
  axeViolations,
  eventually,
  lines,
  openPage,
  rollout,
  startViewer,
  visit,
  withToken,
} from "./support.ts";

const executable = findBrowser();
const RUN = "run/repair%2Flarge-model";
const BOTH = "#/compare?runs=repair%252Fsmall-model%2Crepair%252Flarge-model";

describe.skipIf(executable === undefined)("the pages of the viewer", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function demo() {
    const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-layout-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await writeDemoRuns(directory);
    return startViewer(["eval", "view", ".", "--port", "0", "--json"], directory);
  }
  const scrollTop = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => element.scrollTop);
  /** Elements that extend beyond the window and are neither clipped nor in a scrolling element. */
  const outside = (page: Page) =>
    page.evaluate(`(() => {
      const isClipped = (element) => {
        for (let at = element.parentElement; at; at = at.parentElement)
          if (at !== document.body && getComputedStyle(at).overflowX !== "visible") return true;
        return false;
      };
      return [...document.querySelectorAll("button, a, input, select, h1, h2, th, td, .fact, .badge")]
        .filter((element) => {
          const { left, right, width } = element.getBoundingClientRect();
          return width > 0 && (left < -1 || right > innerWidth + 1) && !element.closest(".skip, .hidden");
        })
        .filter((element) => !isClipped(element))
        .map((element) => element.outerHTML.slice(0, 100));
    })()`);

  it("scroll with PageDown, Space and End as soon as they are loaded", { timeout: 60_000 }, async () => {
    const { url } = await demo();
    for (const [hash, scroller, loaded] of [
      [`#/${RUN}/overview`, "#main", ".charts"],
      [`#/${RUN}/tasks`, ".grid-rows", ".cell >> nth=8"],
      [BOTH, "#main", ".tasks-table"],
    ] as const) {
      const { page } = await openPage(browser, `${url}${hash}`, { height: 400 });
      await page.locator(loaded).first().waitFor();
      for (const key of ["PageDown", "Space", "End"]) {
        const before = await scrollTop(page, scroller);
        await page.keyboard.press(key);
        await eventually(() => scrollTop(page, scroller)).toBeGreaterThan(before);
        await page.keyboard.press("Home");
        await eventually(() => scrollTop(page, scroller)).toBe(0);
      }
    }
  });

  it("focus the scrolling element after every change of the page", async () => {
    const { url } = await demo();
    const { page } = await openPage(browser, url, { height: 500 });
    for (const [hash, scroller] of [
      ["#/runs", ".run-rows"],
      [`#/${RUN}/overview`, "#main"],
      [`#/${RUN}/tasks`, ".grid-rows"],
      [`#/${RUN}/live`, "#main"],
      [`#/${RUN}/files`, "#main"],
      [BOTH, "#main"],
      ["#/runs", ".run-rows"],
    ] as const) {
      await visit(page, hash);
      await eventually(() => page.locator(`${scroller}:focus`).count()).toBe(1);
    }
    // Typing keeps the focus.
    await page.keyboard.press("/");
    await page.keyboard.type("small");
    await page.waitForURL(/#\/runs\?q=small$/);
    expect(await page.locator("#search:focus").count()).toBe(1);
  });

  it("keep their order and filter in the address", async () => {
    const { url } = await demo();
    const { page } = await openPage(browser, `${url}#/${RUN}/tasks`);
    await page.getByLabel("sort").selectOption("mean");
    await page.getByRole("button", { name: "Ascending; change to descending" }).click();
    await page.waitForURL(/by=mean/);
    await page.waitForURL(/order=desc/);
    const means = (own: Page) => own.locator(".row-position .task-mean").allTextContents();
    await eventually(async () => (await means(page))[0]).toBe("1.00");
    const again = await openPage(browser, withToken(page, url));
    await again.page.locator(".row-position .task-row").first().waitFor();
    expect(await means(again.page)).toEqual(await means(page));
    // Grid and list have separate orders.
    await page.getByRole("link", { name: "Rollouts", exact: true }).click();
    await page.waitForURL(/rollouts$/);

    await visit(page, "#/runs");
    const names = () => page.locator(".run-rows .run-link").allTextContents();
    await eventually(names).toEqual(["repair/large-model", "repair/small-model"]);
    await page.getByRole("button", { name: "reward, 95 % interval" }).click();
    await page.waitForURL(/sort=reward/);
    await eventually(names).toEqual(["repair/small-model", "repair/large-model"]);
    const head = page.getByRole("columnheader", { name: "reward, 95 % interval" });
    expect(await head.getAttribute("aria-sort")).toBe("ascending");
    await page.getByRole("button", { name: "reward, 95 % interval" }).click();
    await eventually(names).toEqual(["repair/large-model", "repair/small-model"]);
    expect(await head.getAttribute("aria-sort")).toBe("descending");
  });

  it("have named columns in the grid and in the list of runs", async () => {
    const { url } = await demo();
    const { page } = await openPage(browser, `${url}#/${RUN}/tasks?against=repair%2Fsmall-model`);
    const grid = page.getByRole("table", { name: "Tasks and repeats" });
    await grid.getByRole("row").nth(5).waitFor();
    expect(await grid.getByRole("columnheader").allTextContents()).toEqual([
      ...["task", "mean", "other", "repeats", "tokens", "question"],
    ]);
    expect(await grid.getAttribute("aria-rowcount")).toBe("25");
    const row = grid.getByRole("row").nth(5);
    expect(await row.getAttribute("aria-rowindex")).toBe("6");
    expect(await row.getByRole("cell").count()).toBe(5);
    expect(await row.getByRole("rowheader").textContent()).toBe("4");
    await visit(page, "#/runs");
    const runs = page.getByRole("table", { name: "Runs" });
    await eventually(() => runs.getByRole("columnheader").count()).toBe(9);
    expect(await runs.getByRole("row").nth(1).getByRole("rowheader").textContent()).toBe(
      "repair/large-model",
    );
  });

  it("scroll 64 repeats and a million tasks inside the grid", async () => {
    const rows = Array.from({ length: 64 }, (_, index) => rollout(0, index, "Up.", { reward: index % 2 }));
    const cwd = await project({ "run.jsonl": lines(rows) });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/tasks`);
    const last = page.locator(".row-position .cell").nth(63);
    await last.scrollIntoViewIfNeeded();
    expect(await page.locator(".grid-rows").evaluate((grid) => grid.scrollLeft)).toBeGreaterThan(500);
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);

    // The labels of the chart do not overlap, for any number of k.
    await visit(page, "#/overview");
    const figure = page.getByRole("figure", { name: "pass@k and pass^k" });
    await figure.waitFor();
    const labels = (
      await figure.locator("svg text").evaluateAll((texts) =>
        texts.map((each) => {
          const { left, right } = each.getBoundingClientRect();
          return { text: each.textContent ?? "", left, right };
        }),
      )
    ).filter(({ text }) => text.startsWith("k="));
    expect(labels.map(({ text }) => text)).toEqual([1, 2, 4, 8, 16, 32, 64].map((k) => `k=${k}`));
    for (const [place, { right }] of labels.slice(0, -1).entries())
      expect(right).toBeLessThan(labels[place + 1]?.left ?? 0);
    await visit(page, "#/tasks");
    await last.waitFor();

    // More tasks than a browser can lay out.
    const total = 1_000_000;
    await page.route("**/api/tasks?*", async (route) => {
      const address = new URL(route.request().url());
      const offset = Number(address.searchParams.get("offset"));
      address.searchParams.set("offset", "0");
      const whole = (await (await route.fetch({ url: address.href })).json()) as TaskList;
      const [task] = whole.tasks;
      const tasks = Array.from({ length: 200 }, (_, place) => ({ ...task, cells: [], task: offset + place }));
      await route.fulfill({ json: { ...whole, total, offset, tasks } });
    });
    await page.reload();
    await page.getByText("1,000,000 tasks, the first 500,000 are listed.").waitFor();
    // Firefox does not lay out much more.
    const height = await page.locator(".grid-rows").evaluate((grid) => grid.scrollHeight);
    expect(height).toBeGreaterThan(16_000_000);
    expect(height).toBeLessThan(17_800_000);
    await page.keyboard.press("End");
    await page.getByRole("link", { name: "499999", exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it.each([
    [901, 600],
    [950, 600],
    [1000, 600],
    [1440, 600],
    [800, 600],
    [390, 600],
  ])("fit a window of %i × %i px", { timeout: 60_000 }, async (width, height) => {
    const { url } = await demo();
    const { page } = await openPage(browser, url, { width, height });
    for (const [hash, selector] of [
      ["#/runs", ".run-link"],
      [`#/${RUN}/overview`, ".charts"],
      [`#/${RUN}/tasks`, ".row-position .task-row"],
      [`#/${RUN}/rollouts`, ".row"],
      [`#/${RUN}/task/0/rollout/1`, ".fields"],
      [`#/${RUN}/task/4`, ".pane-cell .item"],
      [BOTH, ".tasks-table"],
      [`#/${RUN}/live`, ".empty-state"],
      [`#/${RUN}/files`, ".file"],
    ] as const) {
      await visit(page, hash);
      await page.locator(selector).first().waitFor();
      const size = await page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]",
      );
      expect([hash, size, await outside(page)]).toEqual([hash, [width, height], []]);
      // Header, filter and controls use less than half of a low window.
      if (hash.endsWith("/tasks"))
        expect((await page.locator(".grid-rows").boundingBox())?.height).toBeGreaterThan(height * 0.4);
    }
    if (width > 900) {
      await visit(page, `#/${RUN}/task/0/rollout/1`);
      await page.locator(".fields").waitFor();
      const list = await page.locator(".list-pane").boundingBox();
      expect(list?.width).toBeLessThanOrEqual(Math.max(280, width * 0.3) + 1);
    }
  });

  it("explain empty pages and offer an action", { timeout: 60_000 }, async () => {
    const { url } = await demo();
    const { page } = await openPage(browser, url);
    for (const [hash, title, button] of [
      ["#/runs?q=nowhere", "No run matches the filter", "Show all runs"],
      [`#/${RUN}/tasks?q=reward%3E9`, "No task matches the filter", "Show all tasks"],
      [`#/${RUN}/tasks?q=reward%3C0.5&set=always_pass`, "No task in the set “Always pass”", "Show all tasks"],
      [`${BOTH}&change=missing`, "No task is missing", "Show all tasks"],
      [`#/${RUN}/compare`, "Choose a second run", undefined],
      [`#/${RUN}/live`, "This run is done", undefined],
    ] as const) {
      await visit(page, hash);
      const state = page.getByRole("status", { name: title });
      await state.waitFor();
      expect((await state.locator("p").textContent())?.length).toBeGreaterThan(40);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([hash, colorScheme, await axeViolations(page)]).toEqual([hash, colorScheme, []]);
      }
      if (button) {
        await state.getByRole("button", { name: button }).click();
        await eventually(() => state.count()).toBe(0);
      } else if (hash.endsWith("live")) {
        await state.getByRole("link", { name: "Overview" }).click();
        await page.waitForURL(/overview$/);
      }
    }
    // A file without rows, and one without task indices.
    const { _ng_task_index, ...foreign } = rollout(0, 0, "yes");
    for (const [content, reason] of [
      ["", "run.jsonl has no rows yet."],
      [lines([foreign]), "No row of this file has a task index"],
    ] as const) {
      const cwd = await project({ "run.jsonl": content });
      const viewer = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
      const { page: own } = await openPage(browser, `${viewer.url}#/tasks`);
      await own.getByText(reason).waitFor();
      expect(await axeViolations(own)).toEqual([]);
      await visit(own, "#/overview");
      await own.locator(".coverage, .empty-state").waitFor();
      expect(await axeViolations(own)).toEqual([]);
      await visit(own, "#/compare");
      await own.getByRole("status", { name: "There is only one run" }).waitFor();
    }
  });

  it("report a server that does not respond, and continue when it does", { timeout: 60_000 }, async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const words = ["eval", "view", "run.jsonl", "--no-token", "--json"];
    const first = await startViewer([...words, "--port", "0"], cwd);
    const { page } = await openPage(browser, `${first.url}#/overview`, { width: 390 });
    await page.locator(".coverage").waitFor();
    const alert = page.getByRole("alert").filter({ hasText: "The viewer server does not answer." });
    expect(await alert.count()).toBe(0);
    first.child.kill("SIGKILL");
    await alert.waitFor();
    expect(await alert.textContent()).toContain("start gym eval view again");
    // The loaded content stays.
    expect(await page.locator(".coverage").count()).toBe(1);
    await startViewer([...words, "--port", new URL(first.base).port], cwd);
    await eventually(() => alert.count()).toBe(0);
  });
});
