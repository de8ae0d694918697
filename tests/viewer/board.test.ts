import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeBoardRun } from "../../scripts/viewer/board-runs.ts";
import { project, repository } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { axeViolations, eventually, openPage, startViewer, withToken } from "./support.ts";

const executable = findBrowser();

/** Two models in two environments, one of which regressed, a run on another scale, and an export. */
async function runs(): Promise<string> {
  const cwd = await project({});
  const strong = Array.from({ length: 20 }, (_, task) => [1, task % 5 === 0 ? 0 : 1]);
  const weak = strong.map((_, task) => [task % 4 === 0 ? 1 : 0, 0]);
  const write = (name: string, parts: Parameters<typeof writeBoardRun>[1]) =>
    writeBoardRun(path.join(cwd, "results", name), parts);
  for (const environment of ["math", "tools"]) {
    await write(`${environment}-1`, { environment, model: "large", rewards: strong, cost: 0.01 });
    await write(`${environment}-2`, { environment, model: "small", rewards: strong });
    await write(`${environment}-3`, {
      environment,
      model: "small",
      when: "2026-02-01T00:00:00.000Z",
      rewards: weak,
    });
  }
  await write("points", { environment: "points", model: "small", rewards: [[40], [3]] });
  await mkdir(path.join(cwd, "results"), { recursive: true });
  await writeFile(path.join(cwd, "results/sft.jsonl"), '{"messages": [], "reward": 1}\n');
  return cwd;
}

describe.skipIf(executable === undefined)("the board", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  it("shows models, environments, changes and what is left out, and leads to the runs", async () => {
    const cwd = await runs();
    const { url } = await startViewer(["eval", "view", "results", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, url);
    await page.getByRole("link", { name: "Board" }).click();
    const matrix = page.getByRole("table", { name: "Models and environments" });
    await eventually(() => matrix.locator("tbody tr").allTextContents()).toEqual([
      expect.stringMatching(/^large.*0\.900.*#1/),
      expect.stringMatching(/^small.*0\.125.*#2/),
    ]);
    const changes = page.getByRole("table", { name: "Since the run before" });
    expect(await changes.locator("tbody tr").allTextContents()).toEqual(
      ["math", "tools"].map((name) =>
        expect.stringMatching(new RegExp(`^${name}small ▼ worse-0\\.775 .*20`)),
      ),
    );
    expect(await page.getByRole("table", { name: "Between models" }).locator("tbody tr").count()).toBe(2);
    await page.getByText("1 file left out").click();
    await page.getByText("its rows are not rollouts").waitFor();
    await matrix.getByRole("link", { name: "tools" }).click();
    await page.getByRole("table", { name: "Models of tools" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const dark = await openPage(browser, withToken(page, url), { dark: true });
    await dark.page.getByRole("table", { name: "Models of tools" }).waitFor();
    expect(await axeViolations(dark.page)).toEqual([]);
    const phone = await openPage(browser, withToken(page, url), { width: 390, height: 800 });
    await phone.page.getByRole("table", { name: "Models of tools" }).waitFor();
    expect(await axeViolations(phone.page)).toEqual([]);
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.getByRole("link", { name: "tools-3" }).click();
    await page.waitForURL(/#\/run\/tools-3/);
    expect(problems).toEqual([]);
  });

  it("is written as a folder that opens from disk", async () => {
    const cwd = await runs();
    const words = [path.join(repository, "bin/gym.js"), "board", "results", "--to-folder", "site"];
    await promisify(execFile)(process.execPath, words, { cwd });
    const { page, problems } = await openPage(
      browser,
      pathToFileURL(path.join(cwd, "site/index.html")).href,
      {
        own: [pathToFileURL(path.join(cwd, "site")).href],
      },
    );
    const matrix = page.getByRole("table", { name: "Models and environments" });
    await eventually(() => matrix.locator("tbody tr").count()).toBe(2);
    expect(await page.getByRole("link", { name: "tools-3" }).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
