import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Optimization } from "../../src/records/door.ts";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import {
  ask,
  axeViolations,
  eventually,
  lines,
  openPage,
  rollout,
  startViewer,
  withToken,
} from "./support.ts";

const executable = findBrowser();
const PROMPT = "Be brief.";

type Step = [
  candidate: number,
  parents: number[],
  component: string | null,
  system_prompt: string,
  split: string,
];

/** The record of an optimization: candidate 2 is rejected after training, 3 is better than 0 on two tasks, and worse on one. */
async function optimization(): Promise<string> {
  const cwd = await project({});
  const directory = path.join(cwd, "runs/opt1");
  const steps: object[] = [
    {
      kind: "start",
      key: {
        seed: 0,
        texts: { system_prompt: PROMPT },
        splits: { train: ["a"], val: ["b", "c", "d"], test: ["e"] },
      },
    },
  ];
  const batch = async (
    [candidate, parents, component, system_prompt, split]: Step,
    rewards: Record<number, number>,
  ) => {
    const name = `000${steps.length}-c${candidate}-${split}`;
    const tasks = Object.keys(rewards).map(Number);
    steps.push({
      kind: "batch",
      key: { name, candidate, parents, component, texts: { system_prompt }, split, tasks },
      directory: `batches/${name}`,
      rewards: Object.fromEntries(Object.entries(rewards).map(([task, reward]) => [task, [reward]])),
      ...{ rollouts: tasks.length, tokens: 10, spent: 0.01 },
    });
    await mkdir(path.join(directory, "batches", name), { recursive: true });
    const rows = tasks.map((task) => rollout(task, 0, "an answer", { reward: rewards[task] ?? 0 }));
    await writeFile(path.join(directory, "batches", name, "rollouts.jsonl"), lines(rows));
  };
  await batch([0, [], null, PROMPT, "val"], { 1: 0, 2: 0, 3: 1 });
  steps.push({
    kind: "proposal",
    key: { parent: 0, component: "system_prompt", tasks: [0] },
    text: "Shout.",
  });
  await batch([2, [0], "system_prompt", "Shout.", "train"], { 0: 0 });
  steps.push({
    kind: "proposal",
    key: { parent: 0, component: "system_prompt", tasks: [0] },
    text: "Think.",
  });
  const better = `${PROMPT}\nThink <b>first</b>.`;
  await batch([3, [0], "system_prompt", better, "val"], { 1: 1, 2: 1, 3: 0 });
  await batch([0, [], null, PROMPT, "test"], { 4: 0, 5: 0 });
  await batch([3, [0], "system_prompt", better, "test"], { 4: 1, 5: 1 });
  // The last line is being written.
  await writeFile(
    path.join(directory, "lineage.jsonl"),
    `${lines(steps as Record<string, unknown>[])}{"kind":"ba`,
  );
  return cwd;
}

describe.skipIf(executable === undefined)("an optimization", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  it("shows candidates, their texts and their tasks, and leads to the rollouts", async () => {
    const cwd = await optimization();
    const viewer = await startViewer(["eval", "view", "runs", "--port", "0", "--json"], cwd);
    const { url } = viewer;
    const answer = await ask<Optimization>(viewer, "optimization?name=opt1");
    expect(answer).toMatchObject({
      proposals: 2,
      rollouts: 11,
      tokens: 50,
      test: { candidate: 3, difference: { value: 1 } },
    });
    expect(answer.candidates.map(({ index, accepted }) => [index, accepted])).toEqual([
      [0, true],
      [2, false],
      [3, true],
    ]);
    const { page, problems } = await openPage(browser, url);
    await page.getByRole("link", { name: "opt1", exact: true }).click();
    await page.getByText("2 candidates, 2 proposals, 11 rollouts").waitFor();
    const rows = page.getByRole("table", { name: "Candidates" }).locator("tbody tr");
    await eventually(() => rows.allTextContents()).toEqual([
      expect.stringMatching(/^0texts as they were0\.333/),
      expect.stringMatching(/^└ 2system_prompt.*not better on a few tasks$/),
      expect.stringMatching(/^└ 3system_prompt0\.66721kept$/),
    ]);
    await page.getByText("+ Think <b>first</b>.").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await rows.nth(1).getByRole("link").click();
    await page.getByText("+ Shout.").waitFor();
    const phone = await openPage(browser, withToken(page, url), { width: 390, height: 800, dark: true });
    await phone.page.getByText("+ Shout.").waitFor();
    expect(await axeViolations(phone.page)).toEqual([]);
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.goBack();
    await page.getByRole("link", { name: "task 3", exact: true }).click();
    await page.waitForURL(/#\/run\/opt1%2Fbatches%2F\d+-c3-val\/task\/3/);
    await page.getByText("an answer").first().waitFor();
    expect(problems).toEqual([]);
  });

  it("opens with the directory of the optimization, and says what is not one", async () => {
    const cwd = await optimization();
    const viewer = await startViewer(["eval", "view", "runs/opt1", "--port", "0", "--json"], cwd);
    const { runs, optimizations } = await ask<{ runs: object[]; optimizations: string[] }>(viewer, "runs");
    expect([runs.length, optimizations]).toEqual([5, ["."]]);
    const other = await ask<{ error: string }>(viewer, "optimization?name=opt2");
    expect(other.error).toBe("There is no optimization 'opt2'.");
    await writeFile(path.join(cwd, "runs/opt1/lineage.jsonl"), '{"from": "another program"}\n');
    const foreign = await ask<{ error: string }>(viewer, "optimization?name=.");
    expect(foreign.error).toContain("is not a record of gym optimize");
  });
});
