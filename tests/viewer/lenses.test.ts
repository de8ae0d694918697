import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import {
  axeViolations,
  eventually,
  lines,
  openPage,
  type Row,
  rollout,
  startViewer,
  visit,
} from "./support.ts";

const executable = findBrowser();

const said = (text: string, more: Row = {}) => ({
  type: "message",
  role: "assistant",
  content: text,
  ...more,
});
const call = (id: string, more: Row = {}) => ({
  type: "function_call",
  call_id: id,
  name: "delegate",
  arguments: "{}",
  ...more,
});
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "done" });
const sampled = (prompt: number[], generation: number[], logProbs?: number[]) => ({
  prompt_token_ids: prompt,
  generation_token_ids: generation,
  ...(logProbs && { generation_log_probs: logProbs }),
});
const row = (task: number, items: unknown[], more: Row = {}) => {
  const whole = rollout(task, 0, "");
  return { ...whole, response: { ...(whole["response"] as Row), output: items }, ...more };
};
const upTo = (length: number, from = 0) => Array.from({ length }, (_, place) => from + place);

describe.skipIf(executable === undefined)("timeline and tokens in the viewer", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function open(rows: readonly Row[]): Promise<{ page: Page; problems: string[] }> {
    const cwd = await project({ "run.jsonl": lines(rows) });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    return openPage(browser, `${url}#/task/0/rollout/0`);
  }

  it("shows lanes for model, tools, setup, verifier and waiting, and a row for every agent", async () => {
    const trajectory = {
      invocations: [
        {
          invocation_id: "root",
          status: "completed",
          model_calls: [{ model_call_id: "a" }, { model_call_id: "d" }],
        },
        {
          invocation_id: "helper",
          parent_invocation_id: "root",
          spawned_by_tool_call_id: "c1",
          status: "failed",
          model_calls: [{ model_call_id: "b" }],
        },
      ],
      model_calls: ["a", "b", "d"].map((id, place) => ({
        model_call_id: id,
        started_at: 101 + place * 2,
        completed_at: 102 + place * 2,
        response: { model: "m", usage: { output_tokens: place + 1, ng_waited_ms: id === "a" ? 400 : 0 } },
      })),
      tool_calls: [
        {
          invocation_id: "root",
          tool_call_id: "c1",
          tool_name: "delegate",
          started_at: 102,
          completed_at: 104.5,
        },
      ],
    };
    const timing = {
      started_at: new Date(100_000).toISOString(),
      seconds: 8,
      seed: { at: 0, seconds: 0.5 },
      verify: { at: 6.5, seconds: 1 },
    };
    const { page, problems } = await open([
      row(0, [call("c1"), output("c1"), said("answer")], { ng_trajectory: trajectory, _ng_timing: timing }),
    ]);
    await page.locator(".timeline").waitFor();
    expect(await page.locator(".lane-name").allTextContents()).toEqual([
      "model",
      "tools",
      "setup",
      "verifier",
      "waiting",
      "other",
      "root",
      "delegate",
    ]);
    const indent = (place: number) =>
      page.evaluate<number>(
        `parseFloat(getComputedStyle(document.querySelectorAll(".lane.agent .lane-name")[${place}]).paddingLeft)`,
      );
    expect(await indent(1)).toBeGreaterThan(await indent(0));
    // The span of an agent links to the call that started it, the last call to the last turn.
    await page.getByRole("button", { name: /^Agent delegate: .*1 model call.*failed/ }).click();
    await page.locator("#item-1.selected").waitFor();
    await page.getByRole("button", { name: "m: 1.0 s at 5.0 s" }).click();
    await page.locator("#item-3.selected").waitFor();
    // Turns show the usage of the outermost agent.
    expect(await page.locator(".turn-head").allTextContents()).toEqual([
      expect.stringContaining("1 out"),
      expect.stringContaining("3 out"),
    ]);
    // One Tab stop, arrow keys from there.
    expect(await page.locator('.timeline button[tabindex="0"]').count()).toBe(1);
    await page.locator('.timeline button[tabindex="0"]').focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.locator("#item-1.selected").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("lists the boundaries between model calls and the report of the capture", async () => {
    const first = [call("c1", sampled([1, 2, 3], [4, 5], [-0.01, -2.5])), output("c1")];
    const second = [call("c2", sampled([1, 2, 3, 4, 5, 6], [7])), output("c2")];
    const { page, problems } = await open([
      row(0, [...first, ...second, said("forked", sampled([1, 2, 3, 4, 9, 6, 7], [8]))], {
        mask_sample: true,
        _ng_turn_boundaries: { extend: 1, fork: 1, lost: 0 },
        _ng_token_capture: { n_calls: 3, capture_incomplete: true },
      }),
      row(1, [...first, call("c3"), output("c3"), said("end", sampled([1], [2]))]),
    ]);
    const panel = page.locator(".token-panel");
    await panel.locator("summary").click();
    expect(await panel.locator("summary").textContent()).toBe("Tokens: 1 extend · 1 fork · 0 lost · masked");
    expect(await panel.locator("li").allTextContents()).toEqual([
      "first Call 1: first call",
      "extend Call 2: extends call 1",
      "fork Call 3: forks from call 2 at token 5",
    ]);
    expect(await panel.locator(".capture").textContent()).toBe("n_calls3capture_incompletetrue");
    expect(await page.locator(".turn-head .boundary").allTextContents()).toEqual(["extend", "fork"]);
    await panel.getByRole("link", { name: "Call 3" }).click();
    await page.locator("#item-5.selected").waitFor();

    // Colours, context and sampled tokens, the token that differs, masked tokens.
    for (const summary of await page.locator(".tokens > summary").all()) await summary.click();
    const sampledTokens = page.locator("#item-1 .sampled .token");
    expect(
      await sampledTokens.evaluateAll((tokens) => tokens.map(({ className }) => className.trim())),
    ).toEqual(["token  heat-0", "token  heat-4"]);
    expect(
      await page.evaluate(
        "getComputedStyle(document.querySelector('#item-1 .sampled .token')).textDecorationLine",
      ),
    ).toBe("line-through");
    expect(await page.locator("#item-3 .context .carried").allTextContents()).toEqual([
      "1 ",
      "2 ",
      "3 ",
      "4 ",
      "5 ",
    ]);
    expect(await page.locator("#item-3 .context .token").count()).toBe(6);
    const drift = page.locator("#item-5 .context .drift");
    expect(await drift.allTextContents()).toEqual(["9 "]);
    expect(await drift.getAttribute("title")).toContain("call 2 has 5 here");
    await page.getByText("text is shown only where the provider sent it").first().waitFor();
    // At the top, where no item is partly below the bar that stays in sight.
    await page.locator(".rollout-pane").evaluate((pane) => pane.scrollTo(0, 0));
    expect(await axeViolations(page)).toEqual([]);

    // Missing ids are reported as lost.
    await visit(page, "#/task/1/rollout/0");
    await eventually(() => page.locator(".turn-head .boundary").allTextContents()).toEqual(["lost", "lost"]);
    expect(problems).toEqual([]);
  });

  it("shows the logs that name the rollout first", async () => {
    const cwd = await project({
      "run.jsonl": lines([row(0, [said("answer")])]),
      "logs/agent.log": "12:00 started\n12:01 [1-0] another one\n",
      "logs/sandbox.log":
        "12:00 ready\n12:01 [0-0] ls\n12:02 [0-0-a1] \u001b[31mls failed\u001b[0m\n12:03 [10-0] ls\n",
      "logs/tools.log": "12:02 [0-0] tool called\n",
    });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/task/0/rollout/0`);
    const logs = page.locator(".logs");
    await logs.locator("summary").click();
    await eventually(() => logs.locator(".chip").allTextContents()).toEqual([
      "sandbox.log 2 lines",
      "tools.log 1 line",
      expect.stringMatching(/^agent.log \d+ B$/),
    ]);
    const shown = () => logs.locator("pre").textContent();
    await eventually(shown).toBe("12:01 [0-0] ls\n12:02 [0-0-a1] ls failed");
    expect(await logs.locator(".ansi-red").textContent()).toBe("ls failed");
    await logs.getByLabel("all lines").check();
    await eventually(shown).toContain("12:03 [10-0] ls");
    await logs.getByLabel("all lines").uncheck();
    await logs.getByRole("button", { name: /^agent.log/ }).click();
    await eventually(() => logs.textContent()).toContain("No line names rollout 0-0.");
    await eventually(shown).toContain("12:01 [1-0] another one");
    expect(await axeViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("shows tokens page by page, and loads truncated lists", async () => {
    const prompt = upTo(5000, 100_000);
    const texts = upTo(2500).map((place) => ({ token: `t${place} `, logprob: -0.1 }));
    const withTexts = [{ type: "output_text", text: "x", logprobs: texts }];
    const long = upTo(200_000, 1_000_000);
    const { page, problems } = await open([
      row(0, [
        call("c1", sampled(prompt, [1])),
        output("c1"),
        said("", { content: withTexts, ...sampled([...prompt.slice(0, 4500), 7], [2]) }),
      ]),
      row(1, [call("c1", sampled(long, [1])), output("c1"), said("end", sampled([...long, 1, 5], [2]))]),
    ]);
    await page.locator("#item-3 .tokens > summary").click();
    const context = page.locator("#item-3 .context");
    // The page with the token that differs is shown first.
    await context.locator(".drift").waitFor();
    expect(await context.locator(".token-list-head").textContent()).toContain("4,001–4,501 of 4,501");
    await context.getByRole("button", { name: "Previous" }).click();
    await eventually(() => context.locator(".token").count()).toBe(2000);
    expect(await context.locator(".token").first().textContent()).toBe("102000 ");
    const text = page.locator("#item-3 .texts");
    await text.getByRole("button", { name: "Next" }).click();
    await eventually(() => text.locator(".token").last().textContent()).toBe("t2499 ");

    await visit(page, "#/task/1/rollout/0");
    await page.locator(".elided").waitFor();
    await eventually(() => page.locator(".turn-head .boundary").allTextContents()).toEqual(["unknown"]);
    for (const item of ["#item-1", "#item-3"]) {
      await page.locator(`${item} .tokens > summary`).click();
      expect(await page.locator(`${item} .tokens > summary`).textContent()).toContain("at least ");
      await page.locator(item).getByRole("button", { name: "Load all tokens" }).click();
      await eventually(() => page.locator(`${item} .tokens > summary`).textContent()).toMatch(
        /^200,00\d context tokens/,
      );
    }
    await eventually(() => page.locator(".turn-head .boundary").allTextContents()).toEqual(["extend"]);
    expect(problems).toEqual([]);
  });
});
