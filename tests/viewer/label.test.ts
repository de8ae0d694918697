import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import {
  axeViolations,
  ended,
  eventually,
  lines,
  openPage,
  rollout,
  startViewer,
  withToken,
} from "./support.ts";

const executable = findBrowser();

const judged = (task: number) => {
  const votes = task % 2 === 0 ? ["[[GOOD]]", "[[BAD]]", "[[GOOD]]"] : ["[[GOOD]]"];
  const judges = [{ server: "judge_model", model: "grader-9000", calls: 3 }];
  return {
    calls: 3,
    input_tokens: 1,
    output_tokens: 1,
    unreadable: 0,
    judges,
    votes: [votes],
    prompt: "p",
    parser: "q",
  };
};

/** A run of six judged rollouts, with the rows of its tasks. */
async function judgedRun(): Promise<string> {
  const tasks = [0, 1, 2, 3, 4, 5];
  const rows = tasks.map((task) =>
    rollout(task, 0, `the answer to ${task}`, {
      reward: task < 4 ? 1 : 0,
      verdict: "[[GOOD]]",
      _ng_judge: judged(task),
    }),
  );
  const inputs = tasks.map((task) => ({
    responses_create_params: { input: `question ${task}` },
    expected_answer: `expected ${task}`,
    _ng_task_index: task,
    _ng_rollout_index: 0,
  }));
  return project({ "run.jsonl": lines(rows), "run_materialized_inputs.jsonl": lines(inputs) });
}

const start = (cwd: string, ...more: string[]) =>
  startViewer(["judge", "label", "run.jsonl", "--port", "0", "--json", "--labeller", "anna", ...more], cwd);

const labelsIn = async (cwd: string) =>
  (await readFile(path.join(cwd, "run_labels.jsonl"), "utf8"))
    .split("\n")
    .filter(Boolean)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Record<string, unknown>];
      } catch {
        return [];
      }
    });

describe.skipIf(executable === undefined)("the page for labels", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  it("is worked through by keyboard, without showing how the judge decided", async () => {
    const cwd = await judgedRun();
    const { url, base, token, child } = await start(cwd);
    const { page, problems } = await openPage(browser, url);
    await page.getByRole("heading", { name: "Who labels?" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("Your name").press("Enter");
    await page.getByRole("heading", { name: "Rollout 1 of 6" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const shown = await page.evaluate<string>("document.documentElement.outerHTML");
    for (const hidden of ["GOOD", "grader", "reward", "dummy", "verdict"])
      expect(shown.toLowerCase(), hidden).not.toContain(hidden.toLowerCase());
    await page.getByText(/^expected \d$/).waitFor();
    await page.keyboard.press("r");
    await page.getByRole("heading", { name: "Rollout 2 of 6" }).waitFor();
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "Rollout 3 of 6" }).waitFor();
    // A second thought about the one before.
    await page.keyboard.press("b");
    await page.getByRole("heading", { name: "Rollout 2 of 6" }).waitFor();
    expect(await page.getByRole("button", { name: /^Wrong/ }).getAttribute("aria-pressed")).toBe("true");
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: "Rollout 3 of 6" }).waitFor();
    expect((await labelsIn(cwd)).map(({ label, revision, by }) => [label, revision, by])).toEqual([
      ["right", 1, "human"],
      ["wrong", 1, "human"],
      ["unclear", 2, "human"],
    ]);
    // Nothing else of the run can be asked for.
    for (const address of ["runs", "row?source=rollouts&line=1", "rollouts", "overview"]) {
      const { status } = await fetch(`${base}api/${address}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect([address, status]).toEqual([address, 403]);
    }
    const dark = await openPage(browser, withToken(page, url), { dark: true, width: 390, height: 800 });
    await dark.page.getByRole("button", { name: "Begin" }).click();
    await dark.page.getByRole("heading", { name: "Rollout 3 of 6" }).waitFor();
    expect(await axeViolations(dark.page)).toEqual([]);
    expect(await dark.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(problems).toEqual([]);
    child.kill("SIGTERM");
    await ended(child);
  });

  it("continues after kill -9 in the middle of a line, for several people", async () => {
    const cwd = await judgedRun();
    const first = await start(cwd);
    const { page } = await openPage(browser, first.url);
    await page.getByLabel("Your name").press("Enter");
    await page.getByRole("heading", { name: "Rollout 1 of 6" }).waitFor();
    await page.keyboard.press("r");
    await page.getByRole("heading", { name: "Rollout 2 of 6" }).waitFor();
    first.child.kill("SIGKILL");
    await ended(first.child);
    await appendFile(path.join(cwd, "run_labels.jsonl"), '{"_ng_task_index":1,"_ng_roll');
    const second = await start(cwd);
    const again = await openPage(browser, second.url);
    await again.page.getByLabel("Your name").press("Enter");
    await again.page.getByRole("heading", { name: "Rollout 2 of 6" }).waitFor();
    for (const number of [3, 4, 5, 6]) {
      await again.page.keyboard.press("w");
      await again.page.getByRole("heading", { name: `Rollout ${number} of 6` }).waitFor();
    }
    await again.page.keyboard.press("w");
    await again.page.getByRole("heading", { name: "Nothing is left to label" }).waitFor();
    const other = await openPage(browser, withToken(again.page, second.url));
    await other.page.getByLabel("Your name").fill("ben");
    await other.page.getByRole("button", { name: "Begin" }).click();
    await other.page.getByRole("heading", { name: "Rollout 1 of 6" }).waitFor();
    await other.page.getByRole("button", { name: /^Right/ }).click();
    await eventually(() => labelsIn(cwd)).toHaveLength(7);
    expect((await labelsIn(cwd)).map(({ labeller }) => labeller)).toEqual([...Array(6).fill("anna"), "ben"]);
  });

  it("says why a label is not saved", async () => {
    const cwd = await judgedRun();
    const { url } = await start(cwd);
    const { page } = await openPage(browser, url);
    await page.getByLabel("Your name").press("Enter");
    await page.getByRole("heading", { name: "Rollout 1 of 6" }).waitFor();
    await writeFile(path.join(cwd, "run_labels.jsonl"), "[]\n");
    await page.keyboard.press("r");
    await expect(page.getByRole("alert").textContent()).resolves.toMatch(/run_labels\.jsonl:1/);
    await page.getByRole("heading", { name: "Rollout 1 of 6" }).waitFor();
  });
});
