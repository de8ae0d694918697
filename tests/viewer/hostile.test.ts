import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import { eventually, openPage, type Row, rollout, startViewer, visit } from "./support.ts";

const executable = findBrowser();
const SCRIPT = "<script>window.hit=1</script>";
const MARKUP = `${SCRIPT}<img src=x onerror="window.hit=2"><svg onload="window.hit=3"><iframe srcdoc="${SCRIPT}"></iframe>`;
const SVG = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}<image href="https://evil.example/a.png"/></svg>`)}`;
/** Text with characters that change its order, and an invisible space. */
const BIDI = "admin \u202egpj.exe\u202c\u200b and \u2066hidden\u2069";

const asked = (content: unknown): Row => ({
  responses_create_params: { input: [{ role: "user", content }] },
});
const called = (output: unknown): Row => ({
  response: {
    output: [
      { type: "function_call", call_id: "1", name: MARKUP, arguments: MARKUP },
      { type: "function_call_output", call_id: "1", output },
    ],
  },
});

/** Rows that try to run a script, load something or break the page. */
const HOSTILE: readonly Row[] = [
  { note: MARKUP, [MARKUP]: MARKUP },
  asked(MARKUP),
  asked(`[x](javascript:window.hit=4) [y](data:text/html,${SCRIPT}) ![z](https://evil.example/z.png)`),
  asked(
    `<a href="javascript:window.hit=5">x</a>\n\n<img src="https://evil.example/b.png">\n\n| ${SCRIPT} |\n| - |\n| ${MARKUP} |`,
  ),
  asked(
    String.raw`$\href{javascript:window.hit=7}{x}$ $\includegraphics{https://evil.example/m.png}$ $\style{background:url(https://evil.example/s)}{x}$ ` +
      String.raw`$\class{top}{x}$ $$\begin{align}\label{root} x &= \text{${SCRIPT}} \tag{1}\end{align}$$ $\def\a{\a\a}\a$ $\rule{9999em}{9999em}$ ` +
      `$${"{".repeat(1900)}x$ \\[${"\\frac{".repeat(1500)}\\]`,
  ),
  asked(`${"$a".repeat(20_000)}${"\\(".repeat(20_000)}`),
  asked([{ type: "input_image", image_url: SVG }]),
  asked([{ type: "input_image", image_url: "javascript:window.hit=6" }]),
  asked([{ type: "input_image", image_url: "https://evil.example/track.png" }]),
  asked([{ type: "input_image", image_url: `data:image/png;base64,${"A".repeat(5_000_000)}` }]),
  asked([{ type: "input_file", file_url: "file:///etc/passwd" }]),
  asked(BIDI),
  { _ng_failure_class: BIDI, _ng_failure: { stage: BIDI, message: BIDI } },
  {
    response: {
      output: [
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: BIDI, logprobs: [{ token: BIDI, logprob: -1 }] }],
        },
      ],
    },
    deep: { in: { it: { [BIDI]: { [BIDI]: BIDI } } } },
  },
  // Everything that has a name.
  {
    [BIDI]: BIDI,
    agent_ref: { name: BIDI },
    extracted_answer: BIDI,
    [`expected_${BIDI}`]: BIDI,
    [`judge_${BIDI}`]: { verdict: BIDI },
    reward_components: { [BIDI]: 1 },
    response: {
      model: BIDI,
      output: [
        { type: "function_call", call_id: BIDI, name: BIDI, arguments: JSON.stringify({ [BIDI]: BIDI }) },
        { type: "function_call_output", call_id: BIDI, output: BIDI },
        { type: "message", role: BIDI, content: [{ type: "input_file", filename: BIDI }] },
        {
          type: "message",
          role: "assistant",
          content: `$\\text{${BIDI}}$ [${BIDI}](https://x.example/${BIDI})`,
        },
      ],
    },
    _ng_token_capture: { error: BIDI, [BIDI]: 1 },
    ng_trajectory: {
      invocations: ["root", BIDI].map((id) => ({ invocation_id: id, status: BIDI, model_calls: [] })),
      model_calls: [
        {
          started_at: 1,
          completed_at: 2,
          error_category: BIDI,
          response: { model: BIDI },
          request: { [BIDI]: BIDI },
        },
      ],
      tool_calls: [
        {
          invocation_id: BIDI,
          tool_call_id: BIDI,
          tool_name: BIDI,
          started_at: 2,
          completed_at: 3,
          status: BIDI,
        },
      ],
    },
  },
  asked("|---|\n".repeat(15_000)),
  asked("#_X_#\n####\n".repeat(8000)),
  asked(`${"Z\u0300\u0301\u0302\u0303".repeat(3000)}`),
  asked("A".repeat(1_000_000)),
  called("\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\u001b[31;5;999mred\u001b[2J\u001bPq"),
  called(`--- a\n+++ b\n@@ -1 +1 @@\n-${MARKUP}\n+${MARKUP}`),
  called(JSON.stringify({ html: MARKUP, nested: { [MARKUP]: [MARKUP] } })),
  { lone: "\ud800 half a character", agent_ref: { name: MARKUP } },
  {
    judge_evaluations: [{ prompt: MARKUP, verdict: SCRIPT }],
    extracted_answer: MARKUP,
    expected_answer: MARKUP,
  },
  { _ng_failure_class: MARKUP, _ng_failure: { stage: MARKUP, message: MARKUP, retryable: true } },
  { reward: 1.2345678901234568e29, tiny: 1e-7 },
  { response: { output: [null, 5, "x", [], { type: MARKUP }, { role: { a: 1 }, content: 7 }] } },
];

/** Whether the page has invisible characters, and whether it shows one by its code point. */
async function unseen(page: Page): Promise<{ raw: boolean; shown: boolean }> {
  const text = await page.locator("body").textContent();
  // Includes tooltips and labels for screen readers.
  const labels = await page.evaluate<string>(
    `[...document.querySelectorAll("[title], [aria-label], [alt]")]
      .flatMap((element) => [element.title, element.ariaLabel, element.getAttribute("alt")]).join("\\n")`,
  );
  return {
    raw: /[\u200b\u202a-\u202e\u2066-\u2069]/.test(`${text}${labels}`),
    shown: String(text).includes("U+202E"),
  };
}

describe.skipIf(executable === undefined)("hostile rollouts", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  it("shows hostile rows as text", async () => {
    const deep = `{"reward":1,"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const rows = HOSTILE.map((row, task) => JSON.stringify(rollout(task, 0, MARKUP, row)));
    const prototype = JSON.stringify(rollout(90, 0, "x", { protoX: { polluted: true } })).replace(
      "protoX",
      "__proto__",
    );
    const all = [...rows, prototype, deep, MARKUP, BIDI, '{"reward":NaN,"x":Infinity}'];
    const cwd = await project({});
    // The last row is not UTF-8: it has invalid bytes and an incomplete character.
    const bytes = Buffer.from(`${JSON.stringify(rollout(91, 0, "bad INVALID bytes"))}\n`).toString("latin1");
    all.push("invalid UTF-8");
    await writeFile(
      path.join(cwd, "run.jsonl"),
      Buffer.concat([
        Buffer.from(`${all.slice(0, -1).join("\n")}\n`),
        Buffer.from(bytes.replace("INVALID", "\xff\xc3(\xe2\x82"), "latin1"),
      ]),
    );
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(browser, `${url}#/rollouts`);
    await eventually(() => page.locator(".list-state").textContent()).toContain(`${all.length} lines`);
    for (let line = 1; line <= all.length; line++) {
      await visit(page, `#/sample/${line}`);
      await eventually(() => page.locator(".facts").allTextContents()).toMatchObject([
        expect.stringContaining(`run.jsonl:${line}`),
      ]);
      // The rest of a row that is nested too deep is shown.
      if (all[line - 1] === deep) {
        await page.getByText("deep is nested deeper than 1,000 levels").waitFor();
        expect(await page.locator(".rollout-head .badge").textContent()).toBe("1");
        expect(await page.locator(".rollout-pane .problem-box").count()).toBe(0);
      }
      await page.keyboard.press("e");
      if (all[line - 1] === "invalid UTF-8")
        await page
          .getByText(/bad \ufffd+\(\ufffd+ bytes/)
          .first()
          .waitFor();
      const wide = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
      expect([line, wide]).toEqual([line, 0]);
      const closed = page.locator(
        ":is(.tokens, .token-panel, .judge):not([open]) > summary, .calls button[aria-expanded=false]",
      );
      while ((await closed.count()) > 0) await closed.first().click();
      if (all[line - 1]?.includes("gpj"))
        await eventually(() => unseen(page)).toEqual({ raw: false, shown: true });
    }
    for (const [hash, selector] of [
      ["#/overview", ".coverage-words"],
      ["#/tasks", ".row-position .task-row"],
      ["#/task/1", "main"],
      [`#/task/${HOSTILE.findIndex((row) => BIDI in row)}`, ".pane-cell"],
      [`#/task/${HOSTILE.findIndex((row) => row["_ng_failure_class"] === BIDI)}`, ".pane-head"],
      ["#/rollouts?q=script", ".row"],
      ["#/rollouts?q=gpj", ".row"],
    ] as const) {
      await visit(page, hash);
      await page.locator(selector).first().waitFor();
      expect([hash, (await unseen(page)).raw]).toEqual([hash, false]);
    }
    expect(
      await page.evaluate(
        "[window.hit, {}.polluted, document.querySelectorAll('iframe, script:not([src])').length]",
      ),
    ).toEqual([undefined, undefined, 0]);
    // Only the broken image writes to the console.
    expect(problems.filter((problem) => !problem.includes("ERR_INVALID_URL"))).toEqual([]);
  });
});
