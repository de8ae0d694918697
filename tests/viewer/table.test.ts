import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { axeViolations, eventually, lines, openPage, rollout, startViewer } from "./support.ts";

const executable = findBrowser();

const rows = [
  rollout(1, 0, "It is 7.", { reward: 0, extracted_answer: "7", _ng_timing: { seconds: 2.5 } }),
  rollout(0, 0, "It is 42.", { extracted_answer: "42", expected_answer: "42" }),
];
const failed = rollout(0, 1, "", {
  response: undefined,
  _ng_failure_class: "timeout",
  _ng_failure: { class: "timeout", stage: "model", retryable: false, message: "took longer than 30 s" },
});
const input = (task: number, expected_result: string) => ({
  responses_create_params: { input: `question ${task}` },
  expected_result,
  verifier_metadata: { difficulty: "easy" },
  _ng_task_index: task,
  _ng_rollout_index: 0,
});

describe.skipIf(executable === undefined)("the table of rollouts", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function open(hash: string) {
    const cwd = await project({
      "run.jsonl": lines(rows),
      "run_failures.jsonl": lines([failed]),
      "run_materialized_inputs.jsonl": lines([input(0, "42"), input(1, "8")]),
    });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    return openPage(browser, `${url}${hash}`);
  }

  it("has the extracted and expected answers, the message of a failure, and orders in its heads", async () => {
    const { page, problems } = await open("#/rollouts");
    const table = page.getByRole("table", { name: "Rollouts" });
    const cells = async () =>
      Promise.all(
        (await table.locator(".row").all()).map((row) =>
          row.locator("[role=rowheader], [role=cell]").allTextContents(),
        ),
      );
    await eventually(async () => (await cells()).length).toBe(3);
    expect(await table.getByRole("columnheader").allTextContents()).toEqual(
      "task question answer extracted expected reward turns tokens time failure".split(" "),
    );
    const [first, second, third] = await cells();
    expect(first?.slice(0, 6)).toEqual(["Task 1 · 0", "question 1", "It is 7.", "7", "8", "0"]);
    expect(first?.[8]).toBe("2.5 s");
    expect(second?.slice(3, 6)).toEqual(["42", "42", "1"]);
    expect([third?.[0], third?.[5], third?.[9]]).toEqual([
      "Task 0 · 1attempt",
      "failed",
      "timeout: took longer than 30 s",
    ]);
    expect(await axeViolations(page)).toEqual([]);

    await table.getByRole("button", { name: "reward" }).click();
    await table.getByRole("button", { name: "reward" }).click();
    await page.waitForURL(/sort=reward&order=desc/);
    await eventually(async () => (await cells())[0]?.[5]).toBe("1");

    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "question" }).click();
    await page.getByRole("checkbox", { name: "cost" }).click();
    await page.waitForURL(/columns=task%2Canswer/);
    expect(await table.getByRole("columnheader").allTextContents()).toContain("cost");
    expect(await table.getByRole("columnheader").allTextContents()).not.toContain("question");

    // The table becomes the list next to the open rollout, and comes back.
    await table.getByRole("link", { name: "Task 1 · 0" }).click();
    await page.getByRole("heading", { name: "Task 1 · rollout 0" }).waitFor();
    expect(await page.getByRole("listbox", { name: "Rollouts" }).count()).toBe(1);
    expect(await table.count()).toBe(0);
    await page.goBack();
    await table.waitFor();
    expect(problems).toEqual([]);
  });

  it("joins the verdict with the input of the task", async () => {
    const { page, problems } = await open("#/task/1/rollout/0");
    const verdict = page.locator(".verdict");
    await verdict.waitFor();
    expect(await verdict.locator(".answer-box").allTextContents()).toEqual([
      "extracted (extracted_answer)7",
      "expected (expected_result of the input)8",
    ]);
    await verdict.getByText("input of the task (2 fields)").click();
    await verdict.getByText("difficulty").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
