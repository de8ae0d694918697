import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project, repository } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { ask, eventually, lines, openPage, type Row, rollout, startViewer, visit } from "./support.ts";

const executable = findBrowser();

interface Run {
  id: string;
  path: string;
}

/** The content of a file, read without the viewer. */
function rewardsIn(file: string): (number | null)[] {
  const rows = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  return rows.map((line) => {
    try {
      const { reward } = JSON.parse(line) as { reward?: unknown };
      return typeof reward === "boolean" ? Number(reward) : typeof reward === "number" ? reward : null;
    } catch {
      return null;
    }
  });
}

describe.skipIf(executable === undefined)("rollouts of the Python original", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  /** Opens all files that match a path: compares the reward of each row, and shows the first row in the browser. */
  async function opensAll(word: string): Promise<number> {
    const viewer = await startViewer(["eval", "view", word, "--port", "0", "--json"], await project({}));
    const { runs } = await ask<{ runs: Run[] }>(viewer, "runs");
    const isAlone = runs.length === 1;
    const { page, problems } = await openPage(browser, `${viewer.url}#/overview`);
    for (const { id, path: file } of runs) {
      const run = isAlone ? "" : `run=${encodeURIComponent(id)}&`;
      const expected = rewardsIn(file);
      await eventually(async () => (await ask<{ indexing: boolean }>(viewer, `status?${run}`)).indexing).toBe(
        false,
      );
      const { rows } = await ask<{ rows: { line: number; reward: number | null }[] }>(
        viewer,
        `rollouts?${run}limit=200`,
      );
      expect([id, rows.map(({ reward }) => reward)]).toEqual([id, expected.slice(0, 200)]);
      await visit(page, `#/${isAlone ? "" : `run/${encodeURIComponent(id)}/`}sample/1`);
      await eventually(() => page.locator('article[data-loaded="true"] .facts').allTextContents()).toEqual([
        expect.stringContaining(`${path.basename(file)}:1`),
      ]);
      // The reward is visible with and without a task index.
      await page.locator(".row .badge").first().waitFor();
      const badge = await page.locator(".row .badge").first().boundingBox();
      const list = await page.locator(".rows").boundingBox();
      expect((badge?.x ?? 0) + (badge?.width ?? 0)).toBeLessThanOrEqual((list?.x ?? 0) + (list?.width ?? 0));
      expect([id, problems]).toEqual([id, []]);
    }
    return runs.length;
  }

  it("opens rows without a task, without a response, with nulls and with placeholders", async () => {
    const response = rollout(0, 0, "yes")["response"] as Row;
    const withoutTask = { ...rollout(0, 0, "yes"), _ng_task_index: undefined, _ng_rollout_index: undefined };
    const rows: Row[] = [
      { ...withoutTask, response: { ...response, tool_choice: null, parallel_tool_calls: null } },
      { ...withoutTask, response: { ...response, created_at: undefined, status: "completed" } },
      { responses_create_params: { input: "question" }, reward: 0.5, score: { total: 1 } },
      { ...withoutTask, reward: null },
      { ...withoutTask, reward: true },
    ];
    const cwd = await project({
      "data/example_rollouts.jsonl": `${lines(rows)}<PLACEHOLDER ROW>\n`,
    });
    const file = path.join(cwd, "data/example_rollouts.jsonl");
    expect(await opensAll(file)).toBe(1);

    // Schema differences are one folded line.
    const { url } = await startViewer(["eval", "view", file, "--port", "0", "--json"], cwd);
    const { page } = await openPage(browser, `${url}#/sample/1`);
    for (const [line, problem] of [
      [1, "response.tool_choice"],
      [2, "response.created_at"],
    ] as const) {
      await visit(page, `#/sample/${line}`);
      const note = page.locator(".schema-note");
      await page.locator(`article[aria-label="Row ${line}"][data-loaded="true"]`).waitFor();
      expect(await note.locator("summary").textContent()).toMatch(
        /^\d differences? from the verify response schema$/,
      );
      expect((await note.boundingBox())?.height).toBeLessThan(30);
      expect(await page.locator("article .problem-box").count()).toBe(0);
      expect(await page.locator(".row .badge.failed").count()).toBe(1);
      await note.locator("summary").click();
      expect(await note.locator("li").allTextContents()).toContainEqual(expect.stringContaining(problem));
    }
  });

  it("opens the examples of every shipped environment", { timeout: 180_000 }, async () => {
    expect(await opensAll(path.join(repository, "resources_servers"))).toBeGreaterThan(30);
  });

  const fixtures = path.join(process.env["NEMO_GYM_GOLDEN_VECTORS"] ?? "", "fixtures");
  it.skipIf(!existsSync(fixtures))("opens every file of the original", { timeout: 300_000 }, async () => {
    expect(await opensAll(path.join(fixtures, "*/upstream_data/*rollouts*.jsonl"))).toBeGreaterThan(90);
  });
});
