import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import {
  axeViolations,
  eventually,
  lines,
  type OpenPage,
  openPage,
  type Row,
  rollout,
  startViewer,
  visit,
  withToken,
} from "./support.ts";

const executable = findBrowser();
/** One red pixel. */
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const said = (content: unknown) => ({ type: "message", role: "assistant", content });
const call = (id: string, given: unknown) => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: JSON.stringify(given),
});
const output = (id: string, text: string) => ({ type: "function_call_output", call_id: id, output: text });
const row = (task: number, items: unknown[], more: Row = {}) => {
  const whole = rollout(task, 0, "");
  return { ...whole, response: { ...(whole["response"] as Row), output: items }, ...more };
};
/** A conversation with this number of turns. */
const long = (turns: number) =>
  Array.from({ length: turns }, (_, turn) => [
    call(`c${turn}`, { place: turn }),
    output(`c${turn}`, `wall ${turn}\n`.repeat(12)),
    said(`Turn ${turn} is over.`),
  ]).flat();

describe.skipIf(executable === undefined)("reading rollouts in the viewer", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function open(rows: readonly Row[], hash: string): Promise<OpenPage & { url: string }> {
    const cwd = await project({ "run.jsonl": lines(rows) });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    return { ...(await openPage(browser, `${url}${hash}`)), url };
  }
  const shown = (page: Page, name: string) =>
    page.locator(`article[aria-label="${name}"][data-loaded="true"]`);
  const top = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => Math.round(element.getBoundingClientRect().top));

  it("skips to the conversation, and moves through the list with j and k", async () => {
    const { page, problems } = await open([row(0, long(3)), row(1, long(3))], "#/task/0/rollout/0");
    await shown(page, "Task 0 · rollout 0").waitFor();
    await page.getByRole("button", { name: "Skip to content" }).focus();
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Conversation");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('.item').id")).toBe("item-0");
    for (const [key, task] of [
      ["j", 1],
      ["k", 0],
    ] as const) {
      await page.keyboard.press(key);
      await shown(page, `Task ${task} · rollout 0`).waitFor();
    }
    expect(problems).toEqual([]);
  });

  it("restores the scroll position after going back, and links to turns", async () => {
    const { page, problems, url } = await open([row(0, long(60)), row(1, long(60))], "#/task/0/rollout/0");
    await shown(page, "Task 0 · rollout 0").waitFor();
    await page.getByRole("link", { name: "Turn 41", exact: true }).click();
    await page.waitForURL(/turn=41$/);
    await page.locator("#turn-41.selected").waitFor();
    // Scrolls on from there.
    await page.mouse.move(900, 500);
    await page.mouse.wheel(0, 230);
    await eventually(() => top(page, "#turn-41")).toBeLessThan(0);
    const before = await top(page, "#turn-41");
    await page.keyboard.press("j");
    await shown(page, "Task 1 · rollout 0").waitFor();
    expect(await page.locator(".rollout-pane").evaluate((pane) => pane.scrollTop)).toBe(0);
    await page.goBack();
    await shown(page, "Task 0 · rollout 0").waitFor();
    await eventually(async () => Math.abs((await top(page, "#turn-41")) - before)).toBeLessThan(5);
    // The address links to the turn.
    const again = await openPage(browser, withToken(page, url));
    await again.page.locator("#turn-41.selected").waitFor();
    await eventually(() => again.page.locator("#turn-41").boundingBox()).toMatchObject({
      y: expect.closeTo((await again.page.locator(".rollout-pane").boundingBox())?.y ?? 0, -2) as number,
    });
    await visit(again.page, "#/task/0/rollout/0?item=3");
    await again.page.locator("#item-3.selected").waitFor();
    expect(await again.page.locator(".turn-head.selected").count()).toBe(0);
    expect([...problems, ...again.problems]).toEqual([]);
  });

  it("lays out only nearby items of a rollout with 300 turns", async () => {
    const { page, problems } = await open([row(0, long(300))], "#/task/0/rollout/0");
    await shown(page, "Task 0 · rollout 0").waitFor();
    const laidOut = () =>
      page.evaluate<number>(
        `[...document.querySelectorAll(".item .item-body")]
          .filter((body) => body.checkVisibility({ contentVisibilityAuto: true })).length`,
      );
    expect(await page.locator(".item").count()).toBe(601);
    await eventually(laidOut).toBeLessThan(40);
    await visit(page, "#/task/0/rollout/0?turn=250");
    await page.locator("#turn-250.selected").waitFor();
    await eventually(laidOut).toBeLessThan(80);
    expect(problems).toEqual([]);
  });

  it("has one Tab stop for the head of an item and one for a JSON tree", async () => {
    const given = { plan: { steps: [{ go: "left" }, { go: "right" }] }, note: "x".repeat(120) };
    const { page, problems } = await open(
      [row(0, [call("1", given), output("1", "fine"), said("Done.")])],
      "#/task/0/rollout/0",
    );
    await shown(page, "Task 0 · rollout 0").waitFor();
    const stops = await page.evaluate<number[]>(
      `[...document.querySelectorAll(".item")].map((item) =>
        [...item.querySelectorAll("button, a, summary")].filter(({ tabIndex }) => tabIndex >= 0).length)`,
    );
    expect(Math.max(...stops)).toBeLessThanOrEqual(2);
    // Arrow keys move to the other controls.
    const focused = () =>
      page.evaluate(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
      );
    await page.locator(".item.call .item-toggle").focus();
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toMatch(/^Link to item/);
    await page.keyboard.press("End");
    expect(await focused()).toBe("Copy look as JSON");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator(".item.call .item-body").count()).toBe(0);
    await page.keyboard.press("Enter");
    // Folding the tree, by keys and by click.
    await page.keyboard.press("Tab");
    const tree = page.locator(".item.call .json");
    expect(await tree.textContent()).toContain("steps: ");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    await eventually(() => tree.textContent()).not.toContain("steps: ");
    expect(await focused()).toContain("steps");
    for (const key of ["ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight"])
      await page.keyboard.press(key);
    await eventually(() => tree.textContent()).toContain('go: "left"');
    await tree.locator(".json-toggle").first().click();
    await eventually(() => tree.textContent()).toBe("▸ {plan, note}");
    expect(await axeViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("separates thoughts from an answer", async () => {
    const { page, problems } = await open(
      [row(0, [said("So it must be 42.\n</think>\n\nThe answer is **42**.")])],
      "#/task/0/rollout/0",
    );
    const answer = page.locator(".item.assistant");
    await answer.waitFor();
    expect(await answer.locator(".thought").textContent()).toBe("ThoughtsSo it must be 42.");
    expect(await answer.locator(".item-body > .markdown").textContent()).toBe("The answer is 42.");
    expect(problems).toEqual([]);
  });

  it("enlarges images by mouse and by keyboard", async () => {
    const image = { type: "input_image", image_url: PIXEL };
    const { page, problems } = await open(
      [row(0, [said("red")], { responses_create_params: { input: [{ role: "user", content: [image] }] } })],
      "#/task/0/rollout/0",
    );
    const button = page.getByRole("button", { name: "Enlarge image" });
    await button.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Image" });
    await dialog.locator("img").waitFor();
    expect((await dialog.locator("img").boundingBox())?.width).toBeGreaterThan(400);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await eventually(() => dialog.count()).toBe(0);
    expect(await button.evaluate((element) => element.matches(":focus"))).toBe(true);
    await button.click();
    await dialog.getByRole("button", { name: "Close" }).click();
    await eventually(() => dialog.count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("opens closed parts on the way to a match", async () => {
    const story = `${"nothing to see\n".repeat(200)}the needle is here\n`;
    const huge = `${"hay ".repeat(700_000)}needle`;
    const { page, problems } = await open(
      [
        row(0, [call("1", { a: { b: { c: { d: "NEEDLE" } } } }), output("1", story), said("a *nee*dle")], {
          notes: { deep: { deeper: { deepest: ["needle"] } } },
        }),
        row(1, [said("short")], { transcript: huge }),
      ],
      "#/task/0/rollout/0?q=needle",
    );
    await shown(page, "Task 0 · rollout 0").waitFor();
    const current = page.locator("mark.current");
    /** The part of the page that contains the next match. */
    const holder = () =>
      current.evaluate((mark) => {
        const part = mark.closest(".item-output, .item-body, .fields");
        return `${part?.className} ${mark.textContent}`;
      });
    const found: string[] = [];
    for (const _ of [1, 2, 3]) {
      const before = found.length;
      await page.keyboard.press(".");
      await eventually(async () => {
        const text = await holder().catch(() => "");
        if (text !== "" && text !== found.at(-1)) found.push(text);
        return found.length;
      }).toBeGreaterThan(before);
    }
    // A branch of JSON, a long output, a field.
    expect(found).toEqual(["item-body NEEDLE", "item-output needle", "fields needle"]);
    await page.keyboard.press(",");
    await eventually(() => holder()).toBe("item-output needle");
    expect(await page.locator(".matches").textContent()).toContain("match");

    // A word with formatting in it.
    await visit(page, "#/task/0/rollout/0?q=*nee*dle");
    await eventually(() => page.locator(".item.assistant mark").allTextContents()).toEqual(["*nee*dle"]);

    // A truncated value is searched on request, because the match is not in the part that was sent.
    await visit(page, "#/task/1/rollout/0?q=needle");
    await shown(page, "Task 1 · rollout 0").waitFor();
    await page.getByRole("button", { name: "search 1 cut value too" }).click();
    await eventually(() => page.locator(".matches").textContent()).toContain("Matches in closed parts");
    await page.keyboard.press(".");
    await eventually(() => current.textContent()).toBe("needle");
    expect(problems).toEqual([]);
  });

  it("shows a long rollout with captures whole, and folded as a table of contents", async () => {
    const thought = (turn: number) =>
      `Step ${turn} begins. ${"We add the next number. ".repeat(45)}End of step ${turn}.`;
    const items = Array.from({ length: 110 }, (_, turn) => [
      { type: "reasoning", id: `r${turn}`, summary: [{ type: "summary_text", text: thought(turn) }] },
      call(`c${turn}`, { count: turn }),
      output(`c${turn}`, '{"success": true}'),
    ]).flat();
    // Every model call repeats the conversation before it.
    const ng_trajectory = Array.from({ length: 110 }, (_, turn) => ({ input: items.slice(0, 3 * turn) }));
    const whole = row(0, [...items, said("The running total is 7.")], { ng_trajectory });
    expect(JSON.stringify(whole).length).toBeGreaterThan(7_000_000);
    const { page, problems } = await open([whole], "#/task/0/rollout/0?q=running");
    await shown(page, "Task 0 · rollout 0").waitFor();
    await eventually(() => page.locator(".elided").textContent()).toContain("are cut");
    expect(await page.locator(".item.reasoning .item-body").allTextContents()).toEqual(
      Array.from({ length: 110 }, (_, turn) => thought(turn)),
    );
    expect(await page.locator(".cut-text").count()).toBe(0);
    expect(await page.locator(".item.call .item-toggle").nth(109).textContent()).toBe(
      '▸ look(count: 109) → {"success": true}',
    );
    // The first key goes to the visible match and loads nothing.
    let loads = 0;
    page.on("request", (request) => {
      if (request.url().includes("/api/part")) loads++;
    });
    await page.keyboard.press(".");
    await eventually(() => page.locator("mark.current").textContent()).toBe("running");
    expect(loads).toBe(0);
    await page.keyboard.press("c");
    await eventually(() => page.locator(".item.reasoning .item-toggle").first().textContent()).toMatch(
      /^▸ ReasoningStep 0 begins\. We add/,
    );
    await page.locator(".item.call .item-toggle").first().click();
    await eventually(() => page.locator(".item.call .item-output").first().textContent()).toContain(
      "success",
    );
    expect(problems).toEqual([]);
  });

  it("shows an outline of the turns in place of the list, which follows the reader", async () => {
    const { page, problems } = await open([row(0, long(60)), row(1, long(2))], "#/task/0/rollout/0");
    await shown(page, "Task 0 · rollout 0").waitFor();
    expect(page.url()).not.toContain("token");
    expect(await page.locator(".rows").count()).toBe(1);
    await page.keyboard.press("\\");
    const outline = page.getByRole("navigation", { name: "Outline" });
    await outline.waitFor();
    expect(await page.locator(".rows").count()).toBe(0);
    expect(await outline.locator(".outline-turn").count()).toBe(61);
    expect(await outline.locator(".outline-item").nth(1).textContent()).toMatch(
      /^look \(place: 0\) → wall 0/,
    );
    await outline.getByRole("link", { name: /^Assistant Turn 50 is over/ }).click();
    await page.waitForURL(/side=outline/);
    await page.locator(".item.selected", { hasText: "Turn 50 is over" }).waitFor();
    const current = outline.locator("[aria-current]");
    await eventually(() => current.textContent()).toContain("Turn 50 is over");
    await page.mouse.move(900, 500);
    await page.mouse.wheel(0, -60_000);
    await eventually(() => current.textContent()).toContain("question 0");
    expect(await axeViolations(page)).toEqual([]);
    // The outline stays while the reader goes to the next rollout.
    await page.keyboard.press("j");
    await shown(page, "Task 1 · rollout 0").waitFor();
    await eventually(() => outline.locator(".outline-turn").count()).toBe(3);
    await page.getByRole("button", { name: "Rollouts", exact: true }).click();
    await eventually(() => page.locator(".rows").count()).toBe(1);
    expect(problems).toEqual([]);
  });

  it("colours programs, shows edits as patches, and boxed answers as formulas", async () => {
    const code = "import math\n# area\nprint(math.pi * 2 ** 2)\n";
    const edit = { command: "str_replace", path: "a.py", old_str: "x = 1\ny = 2", new_str: "x = 3\ny = 2" };
    const patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 3\n*** End Patch";
    const items = [
      call("1", { code }),
      output("1", "12.57"),
      call("2", edit),
      output("2", "ok"),
      call("3", { input: patch }),
      output("3", "ok"),
      said("So the answer is \\boxed{\\frac{1}{2}}.\n\n```js\nconst a = 'b';\n```"),
    ];
    const { page, problems } = await open([row(0, items)], "#/task/0/rollout/0");
    await shown(page, "Task 0 · rollout 0").waitFor();
    const [first, second, third] = [0, 1, 2].map((place) => page.locator(".item.call").nth(place));
    expect(await first?.locator(".code-keyword").allTextContents()).toEqual(["import"]);
    expect(await first?.locator(".code-comment").allTextContents()).toEqual(["# area"]);
    expect(await second?.locator(".diff-removed").allTextContents()).toEqual(["-x = 1\n"]);
    expect(await second?.locator(".diff-added").allTextContents()).toEqual(["+x = 3\n"]);
    expect(await third?.locator(".diff-added").allTextContents()).toEqual(["+x = 3\n"]);
    const answer = page.locator(".item.assistant");
    expect(await answer.locator("math mfrac").count()).toBe(1);
    expect(await answer.textContent()).not.toContain("boxed");
    expect(await answer.locator(".code-string").textContent()).toBe("'b'");
    expect(await axeViolations(page)).toEqual([]);
    // A match is marked also where colours would divide it.
    await visit(page, "#/task/0/rollout/0?q=%22print(math%22");
    await eventually(() => first?.locator("mark").allTextContents()).toEqual(["print(math"]);
    expect(problems).toEqual([]);
  });

  it("marks a text that is cut at its place and loads it", async () => {
    const huge = `${"hay ".repeat(1_800_000)}the end`;
    const { page, problems } = await open([row(0, [said(huge), said("short")])], "#/task/0/rollout/0");
    await shown(page, "Task 0 · rollout 0").waitFor();
    const first = page.locator(".item.assistant").first();
    await first.getByRole("button", { name: /^Cut here\. Load all/ }).click();
    await eventually(() => first.textContent()).toContain(`Show all ${huge.length.toLocaleString("en")}`);
    expect(await page.locator(".cut-text").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("reports missing rollouts, matches and files", async () => {
    const { page, problems } = await open([row(0, [said("yes")])], "#/task/7/rollout/0");
    await page.getByRole("heading", { level: 1, name: "Rollout not found" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await visit(page, "#/sample/9");
    await page.getByText("run.jsonl has no line 9. It has 1 line so far.").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await visit(page, "#/rollouts?q=nowhere");
    await page.getByRole("status", { name: "No rollout matches the filter" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    // The button is in the list, also on a phone.
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await axeViolations(page)).toEqual([]);
    await page.locator(".list-pane").getByRole("button", { name: "Clear filters" }).click();
    await eventually(() => page.locator(".row").count()).toBe(1);
    expect(problems).toEqual([]);

    const { page: empty } = await open([], "#/rollouts");
    await empty.getByRole("status", { name: "No rollouts yet" }).waitFor();
    expect(await axeViolations(empty)).toEqual([]);
  });

  it("marks the first difference between repeats, and shows their question", async () => {
    const same = [call("1", { at: 1 }), output("1", "a wall")];
    const repeats = ["I go to the left side.", "I go to the right side."].map((text, index) => ({
      ...row(0, [...same, said(text)]),
      _ng_rollout_index: index,
    }));
    const { page, problems } = await open(repeats, "#/task/0");
    await page.locator(".item.diverges").first().waitFor();
    expect(await page.locator(".turn-mark.diverges").textContent()).toContain("Turn 2");
    const marked = () =>
      page.evaluate("[...(CSS.highlights.get('diverges') ?? [])].map((range) => range.toString())");
    // Only what is not as in the base is marked.
    await eventually(marked).toEqual(["right"]);
    // All repeats have the same question, which is shown once and open.
    expect(await page.locator(".pane-common .item.user .item-body").allTextContents()).toEqual([
      "question 0",
    ]);
    await page.getByRole("button", { name: "Go to the first difference (Turn 2)" }).click();
    await page
      .locator(".item.diverges")
      .first()
      .getByRole("link", { name: /^Link to item/ })
      .click();
    await page.waitForURL(/task\/0\/rollout\/1\?item=3$/);
    await page.locator("#item-3.selected").waitFor();
    expect(problems).toEqual([]);
  });
});
