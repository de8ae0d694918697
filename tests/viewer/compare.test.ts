import { execFile } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project, repository } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { axeViolations, eventually, lines, openPage, rollout, startViewer } from "./support.ts";

const executable = findBrowser();

describe.skipIf(executable === undefined)("two runs and a query", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  const asked = (system: string, task: number) => ({
    responses_create_params: {
      input: [
        { role: "system", content: system },
        { role: "user", content: `question ${task}` },
      ],
    },
  });

  it("are read side by side, with what differs from the base", async () => {
    const called = (city: string) => [
      { type: "function_call", call_id: "1", name: "look", arguments: JSON.stringify({ city }) },
      { type: "function_call_output", call_id: "1", output: "rain" },
    ];
    const rows = (city: string, answers: readonly string[], reward: number) =>
      lines(
        answers.map((answer, repeat) => {
          const whole = rollout(0, repeat, answer, { reward });
          const response = whole["response"] as { output: unknown[] };
          return { ...whole, response: { ...response, output: [...called(city), ...response.output] } };
        }),
      );
    const cwd = await project({
      "weak/rollouts.jsonl": rows("Oslo", ["It rains today", "It rains today"], 0),
      "strong/rollouts.jsonl": rows("Rome", ["It rains", "It is sunny"], 1),
    });
    const { url } = await startViewer(["eval", "view", "weak", "strong", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url.replace(/#.*/, "")}#/compare?runs=weak,strong`);
    await page.locator(".tasks-table tbody th a").first().click();
    await page.waitForURL(/#\/run\/weak\/task\/0\?with=strong%3A0/);
    await eventually(() => page.locator(".pane-head .pane-run").allTextContents()).toEqual([
      ...["weak", "weak", "strong", "strong"],
    ]);
    const marked = () =>
      page.evaluate("[...(CSS.highlights.get('diverges') ?? [])].map((range) => range.toString())");
    // The second column is as the first; in the third the answer ends, and in the fourth it is another one.
    await eventually(marked).toEqual(["Rome", "Rome", "is"]);
    expect(await page.locator(".ends-here").count()).toBe(1);
    expect(await page.locator("#pane-2-item-3 .ends-here").count()).toBe(1);
    await page.getByRole("button", { name: "first different tool call (Turn 1)" }).click();
    await page.getByRole("button", { name: "first different answer" }).click();
    expect(await axeViolations(page)).toEqual([]);
    // Another base: now the columns of the first run differ.
    await page.getByRole("button", { name: "base" }).nth(2).click();
    await page.waitForURL(/base=1\.1/);
    await eventually(marked).toContain("Oslo");
    await page.locator(".pane-head").nth(3).getByRole("link").click();
    await page.waitForURL(/#\/run\/strong\/task\/0\/rollout\/1/);
    expect(problems).toEqual([]);
  });

  it("show the differences between system prompts, and count the changes", async () => {
    const prompts = {
      before: "Answer in one word.\nBe quick.",
      after: "Answer in one word.\nThink first.\nBe <b>kind</b>.",
    };
    const rows = (system: string, rewards: readonly number[]) =>
      lines(rewards.map((reward, task) => rollout(task, 0, "yes", { ...asked(system, task), reward })));
    const cwd = await project({
      "before/rollouts.jsonl": rows(prompts.before, [0, 0, 1, 1]),
      "after/rollouts.jsonl": rows(prompts.after, [1, 1, 0, 1]),
    });
    const { url } = await startViewer(["eval", "view", "before", "after", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(
      browser,
      `${url.replace(/#.*/, "")}#/compare?runs=before,after`,
    );
    const diff = page.getByRole("region", { name: "Prompts" });
    await diff.waitFor();
    expect(await diff.locator(".diff-removed").allTextContents()).toEqual(["- Be quick.\n"]);
    expect(await diff.locator(".diff-added").allTextContents()).toEqual([
      "+ Think first.\n",
      "+ Be <b>kind</b>.\n",
    ]);
    expect(await diff.locator(".diff-line").first().textContent()).toBe("  Answer in one word.\n");
    // A task with another prompt is another task, unless tasks are matched by index.
    await page.getByText("No task is common to both").waitFor();
    await page.getByRole("button", { name: "match tasks by index" }).click();
    await page.waitForURL(/match=index/);
    await page.getByRole("button", { name: "improved 2" }).waitFor();
    expect(await page.getByRole("group", { name: "Changes" }).locator("button").allTextContents()).toEqual([
      ...["all 4", "improved 2", "regressed 1", "unchanged 1", "missing 0"],
    ]);
    await page.getByRole("button", { name: "regressed 1" }).click();
    await eventually(() => page.locator(".tasks-table tbody tr").count()).toBe(1);
    expect(await page.locator(".tasks-table tbody th").textContent()).toBe("2");
    // Runs with the same prompt have no differences.
    await page.getByRole("button", { name: "Remove after" }).click();
    await eventually(() => diff.count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("name an incomplete run, list tasks of one run only, and survive an empty quote", async () => {
    const rows = (tasks: readonly number[]) =>
      lines(tasks.map((task) => rollout(task, 0, "yes", asked("Answer.", task))));
    const cwd = await project({
      "runs/a/rollouts.jsonl": rows([0, 1]),
      "runs/b/rollouts.jsonl": rows([1, 2]),
      "runs/b/rollouts_manifest.json": JSON.stringify({ materialized_inputs: { rows: 9 } }),
    });
    const { url } = await startViewer(["eval", "view", "runs", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url.replace(/#.*/, "")}#/compare?runs=a,b`);
    await page.getByText("b is incomplete: 0 failed, 0 masked, 7 missing of 9 rollouts.").waitFor();
    expect(await page.title()).toBe("Compare · rollouts");
    await page.getByRole("button", { name: "missing 2" }).click();
    await eventually(() => page.locator(".tasks-table tbody th").allTextContents()).toEqual(["0", "2"]);
    await page.goto(`${url.replace(/#.*/, "")}#/run/a/rollouts`);
    await eventually(() => page.title()).toBe("a · Rollouts");
    await page.locator("#search").fill('""');
    await page.getByText("between the quotes").first().waitFor();
    await page.locator("#search").fill("yes");
    await eventually(() => page.locator(".list-state").textContent()).toContain("2 matches");
    await page.goto(`${url.replace(/#.*/, "")}#/run/nope/overview`);
    await page.getByRole("heading", { name: "This run cannot be shown" }).waitFor();
    expect(await page.title()).toBe("nope · Overview");
    await page.getByRole("article").getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  });

  it("are copied as a command that selects the same rollouts", async () => {
    const cwd = await project({
      "my runs/it's one.jsonl": lines([
        rollout(0, 0, "it's $HOME, `not`"),
        rollout(1, 0, "it's $HOME, `not`", { reward: 0 }),
        rollout(2, 0, "other", { reward: 0 }),
      ]),
      "bin/gym": `#!/bin/sh\nexec '${process.execPath}' '${path.join(repository, "bin/gym.js")}' "$@"\n`,
    });
    await chmod(path.join(cwd, "bin/gym"), 0o755);
    const { url } = await startViewer(
      ["eval", "view", "my runs/it's one.jsonl", "--port", "0", "--json"],
      cwd,
    );
    const { page, problems } = await openPage(browser, `${url}#/rollouts`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.locator("#search").fill('reward<1 "it\'s $HOME, `not`"');
    await eventually(() => page.locator(".list-state").textContent()).toMatch(/^1 match/);
    await page.getByRole("button", { name: "Copy as command" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(command).toMatch(/^gym eval view .* --where /);
    const env = { PATH: `${cwd}/bin:${process.env["PATH"]}`, HOME: cwd };
    const { stdout } = await promisify(execFile)("sh", ["-c", `${command} --to-html found.html`], {
      cwd,
      env,
    });
    expect(stdout).toBe("1 rollouts: found.html\n");
    const html = await readFile(path.join(cwd, "found.html"), "utf8");
    expect(html).toContain('\\"_ng_task_index\\":1');
    expect(html).not.toContain('\\"_ng_task_index\\":2');
    expect(problems).toEqual([]);
  });
});
