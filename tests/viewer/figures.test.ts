import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secondsText } from "../../src/viewer/web/shared/format.ts";
import { project, runGym } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { eventually, lines, openPage, rollout, startViewer, visit } from "./support.ts";

const executable = findBrowser();

describe.skipIf(executable === undefined)("figures of the viewer", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function open(cwd: string, hash: string, file = "run.jsonl") {
    const viewer = await startViewer(["eval", "view", file, "--port", "0", "--json"], cwd);
    return openPage(browser, `${viewer.url}${hash}`);
  }

  it("are equal to those of `gym eval run`", { timeout: 60_000 }, async () => {
    const cwd = await project({});
    const words = [
      "--resources-server",
      "instruction_following",
      "--model-type",
      "random_model",
      "--num-repeats",
      "4",
    ];
    const { exitCode, stdout } = await runGym(["eval", "run", ...words, "-o", "out/rollouts.jsonl"], { cwd });
    expect(exitCode).toBe(0);
    const printed = (pattern: RegExp) => pattern.exec(stdout)?.slice(1) ?? [`not printed: ${pattern}`];
    const { page, problems } = await open(cwd, "#/overview", "out");
    const [mean, interval, tasks, rollouts] = printed(
      /reward, 95 % interval\s+(\S+) (\[.*?\]) \((\d+) tasks\).*Coverage: (\d+) of/s,
    );
    await eventually(() => page.locator(".fact-value").first().textContent()).toBe(mean);
    expect(await page.locator(".fact-about").first().textContent()).toBe(interval);
    const facts = await page.getByLabel("Rewards").first().textContent();
    expect(facts).toContain(`scored${rollouts}${tasks} tasks`);
    const rates = (sign: string) => [
      ...stdout.matchAll(new RegExp(`pass${sign}(\\d+)\\s+(\\S.*?) \\((\\d+) tasks\\)`, "g")),
    ];
    const hats = rates("\\^");
    expect(hats).toHaveLength(3);
    expect(await page.getByLabel("pass@k").last().locator("tbody tr").allTextContents()).toEqual(
      rates("@").map(([, k, at, count], index) => `${k}${at}${hats[index]?.[2]}${count}`),
    );
    const [scored, expected] = printed(/Coverage: (\d+) of (\d+) rollouts scored/);
    expect(await page.locator(".coverage-words").textContent()).toContain(
      `${scored} of ${expected} rollouts${scored} completed`,
    );
    // Durations are those that the collection measured.
    const rows = (await readFile(path.join(cwd, "out/rollouts.jsonl"), "utf8")).trim().split("\n");
    const seconds = rows.map(
      (row) => (JSON.parse(row) as { _ng_timing: { seconds: number } })._ng_timing.seconds,
    );
    const slowest = seconds.sort((a, b) => b - a).slice(0, 10);
    expect(
      await page
        .getByRole("region", { name: "Slowest rollouts" })
        .locator("td:nth-of-type(1)")
        .allTextContents(),
    ).toEqual(slowest.map(secondsText));
    await page.getByRole("figure", { name: "Duration" }).waitFor();
    const [outputTokens] = printed(/mean\/output_tokens\s+(\S+)/);
    expect(await page.getByRole("figure", { name: "Output tokens" }).textContent()).toContain(
      `mean ${Number(Number(outputTokens).toFixed(1))}`,
    );
    expect(problems).toEqual([]);
  });

  it("show a run with failed rollouts as done, and mark partial figures", async () => {
    const failed = { response: undefined, _ng_failure_class: "timeout", _ng_failure: { class: "timeout" } };
    const turn_boundaries = { extend: 1_990, fork: 8, lost: 2 };
    const counts = { total: 2, done: 2, completed: 1, failed: 1, in_flight: 0, updated_at: new Date() };
    const progress = { ...counts, turn_boundaries };
    const cwd = await project({
      "run.jsonl": lines([rollout(0, 0, "yes")]),
      "run_failures.jsonl": lines([rollout(1, 0, "", failed), rollout(1, 0, "", failed)]),
      "run_progress.json": JSON.stringify(progress),
      "run_manifest.json": JSON.stringify({ materialized_inputs: { rows: 2 } }),
    });
    const { page } = await open(cwd, "#/overview");
    // One rollout failed after two attempts.
    await eventually(() => page.locator(".state").textContent()).toBe("done, 1 failed");
    expect(await page.locator(".coverage-words").textContent()).toBe(
      "1 of 2 rollouts1 completed0 masked1 failed0 running0 missing",
    );
    expect(await page.locator(".live-note").textContent()).toBe("1 rollout, 2 failed attempts");
    expect(
      await page
        .getByTitle("Turns whose prompt does not continue the tokens of the turn before")
        .textContent(),
    ).toBe("token drift0.5 %8 forked, 2 lost of 2,000 turn boundaries");
    await visit(page, "#/rollouts");
    await eventually(() => page.locator(".list-state").textContent()).toContain(
      "3 lines: 1 rollout, 2 failed attempts",
    );

    // While the file is being read, no count is shown, and figures are marked as partial.
    for (const name of ["status", "overview"])
      await page.route(`**/api/${name}*`, async (route) => {
        const answer = (await (await route.fetch()).json()) as Record<string, unknown>;
        await route.fulfill({ json: { ...answer, indexing: true, complete: false, version: 99 } });
      });
    await page.reload();
    await visit(page, "#/overview");
    await page
      .getByText("The file is still being read. These figures cover the 100 % read so far.")
      .waitFor();
    expect(await page.locator(".live-note").textContent()).toContain("reading 100 %");
  });

  it("have axes and a complete list for 300,000 rollouts", { timeout: 60_000 }, async () => {
    const cwd = await project({});
    const row = (task: number) =>
      `{"reward":${task % 2},"_ng_task_index":${task},"_ng_rollout_index":0,"response":{"output":[]}}\n`;
    let content = "";
    for (let task = 0; task < 300_000; task++) content += row(task);
    await writeFile(path.join(cwd, "run.jsonl"), content);
    const { page, problems } = await open(cwd, "#/overview");
    // The figures are complete when all rows have been read, which a busy machine does slowly.
    await page.locator(".bars-most").getByText("150k").first().waitFor({ timeout: 45_000 });
    expect(await page.getByRole("button", { name: "0 to 0.1: 150,000" }).count()).toBe(1);
    await visit(page, "#/rollouts");
    await eventually(() => page.locator(".list-state").textContent()).toContain(
      "300,000 rollouts, the first 250,000 are listed",
    );
    // Firefox does not lay out more.
    const height = await page.locator(".rows").evaluate((list) => list.scrollHeight);
    expect(height).toBeLessThan(17_800_000);
    await page.locator(".rows").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByText("Task 249999 · 0").waitFor();
    expect(problems).toEqual([]);
  });

  it("show tiny and huge rewards, and a word of a million letters", async () => {
    const cwd = await project({
      "run.jsonl": lines([
        rollout(0, 0, "A".repeat(1_000_000), { reward: 1e-7 }),
        rollout(1, 0, "no", { reward: 1.2345678901234568e29 }),
      ]),
    });
    const { page, problems } = await open(cwd, "#/task/0/rollout/0");
    await eventually(() => page.locator(".row .badge").allTextContents()).toEqual(["1e-7", "1.23e29"]);
    const [badge, list] = [
      await page.locator(".row .badge").last().boundingBox(),
      await page.locator(".rows").boundingBox(),
    ];
    expect((badge?.x ?? 0) + (badge?.width ?? 0)).toBeLessThanOrEqual((list?.x ?? 0) + (list?.width ?? 0));
    const answer = page.locator(".item.assistant");
    await answer.getByRole("button", { name: "Show all 1,000,000 characters" }).click();
    await answer.getByRole("button", { name: "Show 300,000 characters more" }).waitFor();
    const shown = await answer.locator(".item-body").textContent();
    expect(shown?.length).toBeGreaterThan(300_000);
    // Browsers take a minute to break a longer word.
    expect(Math.max(...(shown ?? "").split(/\s+/).map((word) => word.length))).toBe(2000);
    await visit(page, "#/overview");
    await page.locator(".charts").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);
    expect(problems).toEqual([]);
  });
});
