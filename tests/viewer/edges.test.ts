import { rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project, runGym } from "../gym-process.ts";
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

  it("shows boards, many repeats and empty lists", async () => {
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

    // The grid scrolls to the last repeat; the page does not become wider.
    await visit(page, "#/tasks");
    const last = page.locator(".row-position .cell").nth(REPEATS - 1);
    await last.waitFor();
    await last.scrollIntoViewIfNeeded();
    const box = await last.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(1300);
    expect(await page.locator(".grid-rows").evaluate((grid) => grid.scrollLeft)).toBeGreaterThan(0);
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);
    // The task number stays visible.
    expect((await page.locator(".row-position .task-name").boundingBox())?.x).toBeGreaterThanOrEqual(0);
    await last.click();
    await page.waitForURL(new RegExp(`/task/0/rollout/${REPEATS - 1}`));

    await visit(page, "#/rollouts?q=nowhere");
    await page.getByText("No rollout matches the filter").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await eventually(() => page.locator(".list-state").textContent()).toContain(`${REPEATS} rollouts`);
    await rm(path.join(cwd, "run.jsonl"));
    await page.getByText("run.jsonl was removed or renamed.").waitFor();
    expect(await page.getByText(/no rollouts yet/i).count()).toBe(0);
    await visit(page, "#/overview");
    await page.getByText("run.jsonl was removed or renamed.").waitFor();
    expect(await page.getByText("holds no rollouts").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("asks for the token instead of waiting for the list of runs", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const { base } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page } = await openPage(browser, base);
    await page.getByText("This viewer requires its token.").waitFor();
    expect(await page.getByText("Looking for runs").count()).toBe(0);
  });

  it("says why an annotation is not saved, and names the largest change of several runs", async () => {
    const run = lines([rollout(0, 0, "yes"), rollout(1, 0, "no")]);
    const cwd = await project({ "a.jsonl": run, "b.jsonl": run, "c.jsonl": run });
    await symlink(path.join(cwd, "absent/file"), path.join(cwd, "a_annotations.jsonl"));
    const words = ["eval", "view", "a.jsonl", "b.jsonl", "c.jsonl", "--port", "0", "--json"];
    const { url } = await startViewer(words, cwd);
    const { page } = await openPage(browser, url);
    await page.getByRole("columnheader", { name: "largest change" }).waitFor();
    await visit(page, "#/run/a/sample/1");
    await page.locator('article[data-loaded="true"]').waitFor();
    await page.keyboard.press("x");
    await page.getByText(/Not saved: '.*a_annotations.jsonl' cannot be created/).waitFor();
  });

  it("repeats the request for figures until a search is done", async () => {
    const rows = [rollout(0, 0, "needle"), rollout(1, 0, "needle"), rollout(2, 0, "hay")];
    const cwd = await project({ "run.jsonl": lines(rows) });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/rollouts`);
    // The first answers are from a search without matches so far.
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
      if (address === "tasks")
        await eventually(() => page.locator(".row-position .task-row").count()).toBe(2);
      else
        await page
          .getByText(/1\.0000/)
          .first()
          .waitFor();
      expect(answers).toBeGreaterThan(1);
    }
    expect(problems).toEqual([]);
  });

  const open = async (
    files: Record<string, string>,
    hash: string,
    size: { width?: number; height?: number } = {},
  ) => {
    const cwd = await project(files);
    const { url } = await startViewer(["eval", "view", ".", "--port", "0", "--json"], cwd);
    return openPage(browser, `${url}${hash}`, size);
  };

  it("reports a file without rollouts, and lists unreadable lines", async () => {
    const { page, problems } = await open(
      { "empty.jsonl": "", "text.jsonl": "plain\ntext\n" },
      "#/run/empty",
    );
    await page.getByText("empty.jsonl holds no rollouts.").waitFor();
    expect(await page.locator(".fact, .coverage").count()).toBe(0);
    await visit(page, "#/run/text");
    await page.getByText("text.jsonl holds no rollouts: 2 lines could not be read.").waitFor();
    expect(await page.locator(".live-note").textContent()).toBe("0 rollouts, 2 bad lines");
    await page.getByRole("link", { name: "List the lines" }).click();
    await eventually(() => page.locator(".row").count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it("reports pages and tasks that do not exist", async () => {
    const done = { "a/rollouts.jsonl": lines([rollout(0, 0, "yes"), rollout(0, 1, "no")]) };
    const failed = rollout(0, 1, "", { _ng_failure_class: "timeout" });
    const { page, problems } = await open(
      {
        ...done,
        "a/rollouts_failures.jsonl": lines([failed]),
        "a/rollouts_materialized_inputs.jsonl": lines([rollout(0, 0, ""), rollout(0, 1, "")]),
        "a/rollouts_manifest.json": JSON.stringify({ materialized_inputs: { rows: 2 } }),
        "a/quality_summary.json": "{}",
        "b.jsonl": lines([rollout(3, 0, "x")]),
      },
      "#/xyz/1",
    );
    await page.getByText("There is no page “xyz/1”.").waitFor();
    expect(await page.locator(".run-link").count()).toBe(2);
    await visit(page, "#/run/a/nonsense");
    await page.getByText("There is no page “nonsense”.").waitFor();
    expect(await page.locator(".fact").count()).toBe(0);
    await page.locator("article").getByRole("link", { name: "Overview" }).click();
    await page.getByRole("region", { name: "Coverage" }).waitFor();
    await visit(page, "#/run/a/task/999");
    await page.getByText("This run has no task 999.").waitFor();
    expect(await page.locator("article").getByText("passed").count()).toBe(0);
    await visit(page, "#/run/a/task/0");
    await page.getByText("2 repeats, 1 failed attempt, 2 of 2 passed (100 %)").waitFor();
    // Every file of the run is listed, with its size.
    await visit(page, "#/run/a/files");
    const files = page.getByRole("list", { name: "Files of the run" }).getByRole("listitem");
    await eventually(() => files.allTextContents()).toEqual([
      "quality_summary.json 2 B",
      expect.stringMatching(/^rollouts\.jsonl [\d.]+ k?B$/),
      expect.stringMatching(/^rollouts_failures\.jsonl [\d.]+ k?B$/),
      expect.stringMatching(/^rollouts_manifest\.json \d+ B$/),
      expect.stringMatching(/^rollouts_materialized_inputs\.jsonl [\d.]+ k?B$/),
    ]);
    expect(problems).toEqual([]);
  });

  it("reports a page that does not exist if there is only one run", async () => {
    const { page, problems } = await open({ "a.jsonl": lines([rollout(0, 0, "yes")]) }, "#/nonsense");
    await page.getByText("There is no page “nonsense”.").waitFor();
    expect(await page.locator(".fact").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("opens and links two rows with the same task and repeat", async () => {
    const rows = [rollout(0, 0, "first"), rollout(0, 0, "second"), rollout(0, 1, "third")];
    const { page, problems } = await open({ "a.jsonl": lines(rows) }, "#/rollouts");
    const answer = page.locator(".item.assistant .item-body");
    const hash = () => page.evaluate("window.location.hash");
    for (const [place, text, address] of [
      [1, "second", "#/sample/2"],
      [0, "first", "#/task/0/rollout/0"],
    ] as const) {
      await visit(page, "#/rollouts");
      await page.locator(".row").nth(place).click();
      await eventually(() => answer.textContent()).toBe(text);
      expect(await hash()).toBe(address);
      await page.reload();
      await eventually(() => answer.textContent()).toBe(text);
    }
    await visit(page, "#/tasks");
    await eventually(() => page.locator(".row-position .cell").count()).toBe(3);
    await page.locator(".row-position .cell").nth(1).click();
    await eventually(() => answer.textContent()).toBe("second");
    expect(problems).toEqual([]);
  });

  it("separates reward and state of a run on a phone, and shows the focus ring only after a key", async () => {
    const manifest = {
      materialized_inputs: { rows: 9 },
      config: {
        servers: {
          solver: { resources_server: { name: `an_environment_with_a_${"very_".repeat(9)}long_name` } },
        },
      },
    };
    const { page, problems } = await open(
      {
        "a/rollouts.jsonl": lines([rollout(0, 0, "yes", { reward: -2e20 / 3 })]),
        "a/rollouts_manifest.json": JSON.stringify(manifest),
        "a/rollouts_progress.json": JSON.stringify({ mean_reward: -2e20 / 3 }),
        "b.jsonl": lines([rollout(3, 0, "x")]),
      },
      "#/runs",
      { width: 390, height: 800 },
    );
    const row = page.locator(".run-row", { hasText: "an_environment" });
    await row.waitFor();
    const text = row.locator(".run-reward");
    expect(await text.textContent()).toContain("-6.67e19");
    // The text fits into its cell, which ends before the state.
    expect(await text.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).toBe(0);
    const box = await text.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(
      (await row.locator(".run-state").boundingBox())?.x ?? 0,
    );
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);
    const ring = () =>
      page.evaluate(
        "[document.activeElement.className, getComputedStyle(document.activeElement).outlineStyle].join()",
      );
    await eventually(ring).toBe("run-rows,none");
    await page.keyboard.press("PageDown");
    expect(await ring()).toBe("run-rows,solid");
    // The help starts at its title, also in a small window.
    await page.keyboard.press("?");
    const title = page.getByRole("heading", { name: "Keyboard" });
    await title.waitFor();
    expect(await page.locator("dialog").evaluate((dialog) => dialog.scrollTop)).toBe(0);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Keyboard");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Close");
    expect(problems).toEqual([]);
  });

  it("shows the rate that the run printed, and consistent times of calls", async () => {
    const cwd = await project({});
    const { stdout, stderr } = await runGym(
      [
        ...["eval", "run", "--resources-server", "mcqa", "--model-type", "random_model"],
        ...["--limit", "5", "--num-repeats", "2", "-o", "a/rollouts.jsonl"],
      ],
      { cwd },
    );
    const printed = /10\/10 \[.*?([\d.]+)\/s\]/.exec(stdout + stderr)?.[1];
    const [at, second] = [1_700_000_000, { duration_ms: 200, latency_ttft_ms: 50 }];
    const calls = [
      { model_call_id: "a", started_at: at, completed_at: at, duration_ms: 0.4, latency_ttft_ms: 0.4 },
      { model_call_id: "b", started_at: at, completed_at: at, ...second },
    ];
    const failed = {
      _ng_failure_class: "timeout",
      expected_answer: "B",
      extracted_answer: null,
      ng_trajectory: { model_calls: calls },
    };
    await writeFile(path.join(cwd, "b.jsonl"), lines([rollout(0, 0, "", failed)]));
    const { url } = await startViewer(["eval", "view", ".", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/run/a/overview`);
    await eventually(() => page.locator(".facts-row").textContent()).toContain(`${printed} rollouts/s`);

    await visit(page, "#/run/b/sample/1");
    await eventually(() => page.locator(".timeline p").first().textContent()).toMatch(/model <1 ms/);
    // Only a streamed call has a time to the first token.
    const times = page.locator("table", { hasText: "first token" }).locator("tbody tr");
    expect(await times.locator("td:nth-of-type(6)").allTextContents()).toEqual(["–", "50 ms"]);
    expect(await times.locator("td:nth-of-type(7)").allTextContents()).toEqual(["<1 ms", "200 ms"]);
    const box = page.locator(".answer-box").first();
    const [name, none] = [
      await box.locator(".fact-name").boundingBox(),
      await box.locator(".note").boundingBox(),
    ];
    expect(none?.y).toBeGreaterThanOrEqual((name?.y ?? 0) + (name?.height ?? 0) - 1);
    expect(problems).toEqual([]);
  });
});
