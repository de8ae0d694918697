import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { writeDemoRuns } from "../../scripts/viewer/demo-runs.ts";
import { secondsText } from "../../src/viewer/web/shared/format.ts";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { eventually, lines, openPage, rollout, startViewer } from "./support.ts";

const executable = findBrowser();

interface DemoRow {
  _ng_task_index: number;
  _ng_rollout_index: number;
  mask_sample?: boolean;
  response: { usage: { input_tokens: number; output_tokens: number; ng_cost: number } };
  _ng_timing: { seconds: number };
}
interface Band {
  value: number;
  low: number;
  high: number;
}

describe.skipIf(executable === undefined)("the overview", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function open() {
    const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-overview-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await writeDemoRuns(directory);
    const run = path.join(directory, "repair/large-model");
    const { url } = await startViewer(["eval", "view", run, "--port", "0", "--json"], directory);
    const { page, problems } = await openPage(browser, `${url}#/overview`);
    await page.locator(".charts").waitFor();
    const text = (name: string) => readFile(path.join(run, name), "utf8");
    return { page, problems, text };
  }
  const factOf = (page: Page, name: string) => page.locator(".fact").filter({ hasText: name }).textContent();
  const tableOf = async (page: Page, title: string) => {
    const figure = page.getByRole("figure", { name: title, exact: true });
    await figure.getByText("Table", { exact: true }).click();
    return figure.getByRole("table", { name: title }).locator("tbody tr").allTextContents();
  };

  it("shows the caveats of the intervals", async () => {
    const row = (task: number) => ({ ...rollout(task, 0, "yes"), reward: 1 });
    const cwd = await project({
      "run.jsonl": lines([row(0), row(1), { ...row(1), _ng_rollout_index: 1 }]),
      "run_manifest.json": JSON.stringify({ materialized_inputs: { rows: 4 } }),
    });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page } = await openPage(browser, `${url}#/overview`);
    await page.getByText("All 2 tasks have the same result, so the interval has no width").waitFor();
    await page.getByText("Some rollouts have no reward").waitFor();
    // A k with fewer tasks says so.
    expect(await page.getByLabel("pass@k").last().locator("tbody td:last-child").allTextContents()).toEqual([
      "2",
      "1 of 2",
    ]);
  });

  it("draws pass@k and pass^k with the bands of the statistics file", async () => {
    const { page, text } = await open();
    const { agents } = JSON.parse(await text("rollouts_statistics.json")) as {
      agents: { pass: { k: number; pass_at_k: Band; pass_hat_k: Band }[] }[];
    };
    const pass = agents[0]?.pass ?? [];
    expect(pass.map(({ k }) => k)).toEqual([1, 2, 4]);
    const figure = page.getByRole("figure", { name: "pass@k and pass^k" });
    // The positions of 0 % and 100 % on the axis.
    const [zero = 0, , one = 0] = await figure
      .locator(".grid-line")
      .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute("y1"))));
    const drawn = async (series: string, shape: string) =>
      (await figure.locator(`g.${series} ${shape}`).getAttribute("points"))
        ?.split(" ")
        .map((point) => (Number(point.split(",")[1]) - zero) / (one - zero));
    for (const [series, bands] of [
      ["series-a", pass.map(({ pass_at_k }) => pass_at_k)],
      ["series-b", pass.map(({ pass_hat_k }) => pass_hat_k)],
    ] as const) {
      const band = await drawn(series, "polygon");
      const expected = [...bands.map(({ high }) => high), ...bands.toReversed().map(({ low }) => low)];
      expect(band).toHaveLength(expected.length);
      for (const [place, share] of expected.entries()) expect(band?.[place]).toBeCloseTo(share, 2);
      const line = await drawn(series, "polyline");
      for (const [place, { value }] of bands.entries()) expect(line?.[place]).toBeCloseTo(value, 2);
    }
  });

  it("shows the tokens, cost, time and slowest rollouts of the run's files", async () => {
    const { page, problems, text } = await open();
    const rows = (await text("rollouts.jsonl"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as DemoRow);
    const progress = JSON.parse(await text("rollouts_progress.json")) as {
      spent: number;
      elapsed_seconds: number;
      model_calls: number;
      history: [number, number, number][];
    };
    const sum = (read: (row: DemoRow) => number) => rows.reduce((total, row) => total + read(row), 0);
    const thousands = (count: number) => `${Math.round(count / 1000)}k`;
    const input = sum(({ response }) => response.usage.input_tokens);
    const output = sum(({ response }) => response.usage.output_tokens);
    await eventually(() => factOf(page, "tokens in / out")).toBe(
      `tokens in / out${thousands(input)} / ${thousands(output)}${progress.model_calls} model calls`,
    );
    const cost = sum(({ response }) => response.usage.ng_cost);
    expect(await factOf(page, "cost")).toBe(
      `cost$${cost.toFixed(2)}$${progress.spent.toFixed(2)} with failed attempts`,
    );
    expect(progress.elapsed_seconds).toBe(240);
    expect(await factOf(page, "rollouts/s")).toBe("time4 min0.4 rollouts/s");

    const durationOf = ({ _ng_timing }: DemoRow) => _ng_timing.seconds;
    const slowest = rows.toSorted((a, b) => durationOf(b) - durationOf(a)).slice(0, 10);
    const listed = page.getByRole("region", { name: "Slowest rollouts" }).locator("tbody tr");
    expect(await listed.locator("th").allTextContents()).toEqual(
      slowest.map((row) => `Task ${row._ng_task_index} · ${row._ng_rollout_index}`),
    );
    expect(await listed.locator("td:nth-of-type(1)").allTextContents()).toEqual(
      slowest.map((row) => secondsText(durationOf(row))),
    );

    // Every chart has a table with its values. Those over time are the history of the run.
    const times = await tableOf(page, "In flight");
    expect(times).toHaveLength(progress.history.length);
    expect(times[1]).toBe(`6.0 s${progress.history[1]?.[2]}`);
    // Rates are computed in equal windows with at least ten completions.
    const rates = await tableOf(page, "Rollouts per second");
    expect(rates).toHaveLength(Math.floor((progress.history.at(-1)?.[1] ?? 0) / 10));
    expect(rates.at(-1)).toMatch(/^3 min 54 s0\.\d+$/);
    const rewards = await tableOf(page, "Rewards");
    expect(rewards).toHaveLength(10);
    const counts = rewards.map((row) => row.match(/^(0|0\.\d)(?:0\.\d|1)(\d+)$/)?.[2]);
    expect(counts.reduce((total, count) => total + Number(count), 0)).toBe(
      rows.filter((row) => !row.mask_sample).length,
    );
    expect(problems).toEqual([]);
  });
});
