import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type MockAnswer, MockModelEndpoint } from "../../src/testing/index.ts";
import { project, repository, runGym } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { axeViolations, ended, eventually, lines, openPage, rollout, startViewer, visit } from "./support.ts";

const executable = findBrowser();

/** A model that answers when the test releases it, and rejects one question until it is repaired. */
async function heldModel(rejected: string) {
  const held: (() => void)[] = [];
  let isMended = false;
  const endpoint = await new MockModelEndpoint({
    answer: () => new Promise<MockAnswer>((resolve) => held.push(() => resolve({ text: "\\boxed{B}" }))),
    faultFor: ({ body }) =>
      !isMended && JSON.stringify(body).includes(rejected)
        ? { kind: "status", status: 400, message: "That question is rejected." }
        : undefined,
  }).start();
  onTestFinished(() => endpoint.close());
  return {
    endpoint,
    answerAll: () => {
      for (const answer of held.splice(0)) answer();
    },
    mend: () => {
      isMended = true;
    },
  };
}

describe.skipIf(executable === undefined)("the live page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  it("shows and controls a running collection", { timeout: 90_000 }, async () => {
    const cwd = await project({});
    // A separate directory for control sockets, so that other runs on the machine are not found.
    const env = { XDG_RUNTIME_DIR: cwd };
    const { endpoint, answerAll, mend } = await heldModel("A train covers 90 km");
    const model = ["--model-type", "openai_model", "--model-url", endpoint.baseUrl, "--model", "m"];
    const run = spawn(
      process.execPath,
      [
        path.join(repository, "bin/gym.js"),
        ...["eval", "run", "--resources-server", "mcqa", ...model, "--model-api-key", "k"],
        ...["--limit", "4", "--num-repeats", "2", "--concurrency", "2", "-o", "run/rollouts.jsonl"],
      ],
      { cwd, env: { PATH: process.env["PATH"], HOME: cwd, ...env }, stdio: "ignore" },
    );
    onTestFinished(() => void run.kill("SIGKILL"));
    const end = ended(run);
    await eventually(() => existsSync(path.join(cwd, "run/rollouts.jsonl"))).toBe(true);
    const viewer = await startViewer(["eval", "view", "run", "--port", "0", "--json"], cwd, { env });
    const { page, problems } = await openPage(browser, `${viewer.url}#/live`);
    const flights = page.locator(".flights tbody tr");
    const ctl = async (...words: string[]) => {
      const { exitCode, stdout, stderr } = await runGym(["eval", "ctl", ...words, "--json"], { cwd, env });
      expect([exitCode, stderr]).toEqual([0, ""]);
      return JSON.parse(stdout) as {
        paused: boolean;
        concurrency: number;
        lost: { id: string }[];
        running: { id: string; seconds: number; last_event: { stage: string; seconds: number } | null }[];
      };
    };

    // Rollouts in flight, with stage and age.
    await eventually(() => flights.count()).toBe(2);
    expect(await flights.first().textContent()).toMatch(/^0-0.*model.*\d+(\.\d+)? m?s/);
    await eventually(() => page.locator(".state").textContent()).toBe("running");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
    }
    // The model call follows the seeding of the environment.
    const { running } = await ctl("show");
    expect(running).toMatchObject([{ last_event: { stage: "seed" } }, { last_event: { stage: "seed" } }]);
    expect(await flights.first().textContent()).toMatch(/seed took (\d+(\.\d+)? m?s|<1 ms)/);

    // The concurrency, set here and by `gym eval ctl`.
    await page.getByLabel("concurrency").fill("3");
    await page.getByRole("button", { name: "Set" }).click();
    await eventually(() => page.getByLabel("Progress").textContent()).toContain("of 3");
    expect((await ctl("show")).concurrency).toBe(3);

    // The box accepts what the server accepts. The page shows the reason of the server, should it reject.
    const box = page.getByLabel("concurrency");
    await box.fill("90071992547409920");
    await page.getByRole("button", { name: "Set" }).click();
    expect(
      await box.evaluate(
        (element: { validity: { rangeOverflow: boolean } }) => element.validity.rangeOverflow,
      ),
    ).toBe(true);
    expect((await ctl("show")).concurrency).toBe(3);
    await box.evaluate((element: { max: string }) => {
      element.max = "";
    });
    await page.getByRole("button", { name: "Set" }).click();
    await eventually(() => page.getByRole("alert").textContent()).toContain(
      "The concurrency must be a whole number from 1 to 9007199254740991",
    );
    problems.splice(0);

    // One question fails permanently, and is retried after the endpoint is repaired.
    const lost = page.locator(".lost li");
    await eventually(() => lost.count()).toBe(2);
    expect(await lost.allTextContents()).toMatchObject(
      [/^1-0 /, /^1-1 /].map((id) => expect.stringMatching(id)),
    );

    // A paused run writes its results, but starts no rollouts.
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    expect((await ctl("show")).paused).toBe(true);
    await eventually(() => flights.count()).toBe(3);
    // The oldest first, regardless of their indices.
    const byAge = (await ctl("show")).running.toSorted((a, b) => b.seconds - a.seconds);
    expect(await flights.locator("th").allTextContents()).toEqual(byAge.map(({ id }) => id));
    // Cancelling asks first: Escape and the button with the focus keep the rollout.
    const confirmation = page.getByRole("alertdialog", { name: "Cancel rollout 2-0?" });
    for (const key of ["Escape", "Enter"]) {
      await page.getByRole("button", { name: "Cancel 2-0" }).focus();
      await page.keyboard.press("Enter");
      await confirmation.waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.keyboard.press(key);
      await confirmation.waitFor({ state: "detached" });
    }
    expect((await ctl("show")).running.map(({ id }) => id)).toContain("2-0");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await eventually(() => flights.allTextContents()).not.toContainEqual(expect.stringMatching(/^2-0/));
    expect(await flights.count()).toBe(2);
    await eventually(() => page.getByLabel("Progress").textContent()).toContain("cancelled1");
    answerAll();
    await eventually(() => flights.count()).toBe(0);
    await page.getByText("No rollout is in flight. The run is paused").waitFor();

    // Retried by the button and by the command; a rollout that is neither running nor failed is rejected.
    mend();
    await page.getByRole("button", { name: "Retry 1-0" }).click();
    await eventually(() => lost.count()).toBe(1);
    expect((await ctl("retry", "1-1")).lost).toEqual([]);
    await eventually(() => lost.count()).toBe(0);
    expect(await runGym(["eval", "ctl", "retry", "7-7"], { cwd, env })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("rollout '7-7' neither runs nor failed in this session"),
    });
    await page.getByRole("button", { name: "Resume" }).click();
    await eventually(() => flights.count()).toBe(3);

    // A rollout in flight is stopped and restarted.
    const before = endpoint.count;
    await page
      .getByRole("button", { name: /^Restart \d/ })
      .first()
      .click();
    await eventually(() => endpoint.count).toBeGreaterThan(before);

    // The list follows the newest row.
    await visit(page, "#/rollouts");
    await page.getByLabel("follow").check();
    answerAll();
    await page.waitForURL(/#\/sample\/[3-7]$/);
    await page.locator('article[data-loaded="true"]').waitFor();

    // The run ends with all rollouts except the cancelled one.
    const answering = setInterval(answerAll, 100);
    onTestFinished(() => clearInterval(answering));
    await end;
    await visit(page, "#/live");
    await page.getByText("This run is ").first().waitFor();
    await eventually(() => page.locator(".live-note").textContent()).toContain("7 rollouts");
    await eventually(() => page.locator(".state").textContent()).not.toBe("running");
    expect(problems).toEqual([]);
  });

  it("shows rows within a second after they are written", { timeout: 60_000 }, async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "first")]) });
    const viewer = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page } = await openPage(browser, `${viewer.url}#/rollouts`);
    await page.getByText("Task 0 · 0").waitFor();
    const seconds: number[] = [];
    for (let task = 1; task <= 9; task++) {
      const appended = performance.now();
      await appendFile(path.join(cwd, "run.jsonl"), lines([rollout(task, 0, "next")]));
      await page.getByText(`Task ${task} · 0`).waitFor();
      seconds.push((performance.now() - appended) / 1000);
    }
    // The median, because the machine may be busy during one of them.
    expect(seconds.sort((a, b) => a - b)[4]).toBeLessThan(1);
  });
});
