import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { writeDemoRuns } from "../../scripts/viewer/demo-runs.ts";
import { project, runGym } from "../gym-process.ts";
import { findBrowser, startBrowser } from "../support/browser.ts";
import {
  axeViolations,
  eventually,
  lines,
  openPage,
  rollout,
  startViewer,
  visit,
  withToken,
} from "./support.ts";

const executable = findBrowser();
const RUN = "run/repair%2Flarge-model";

describe.skipIf(executable === undefined)("the viewer in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  async function demo(): Promise<string> {
    const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-pages-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await writeDemoRuns(directory);
    return directory;
  }
  const view = (cwd: string, ...words: string[]) =>
    startViewer(["eval", "view", ...words, "--port", "0", "--json"], cwd);
  const text = (page: Page, selector: string) => page.locator(selector).first().textContent();

  it("navigates from the list of runs to overview, tasks, repeats and rollouts", async () => {
    const cwd = await demo();
    const { url } = await view(cwd, ".");
    const { page, problems } = await openPage(browser, url);
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    expect(await page.locator(".run-rows .run-link").allTextContents()).toEqual([
      "repair/large-model",
      "repair/small-model",
    ]);
    await page.getByLabel("Filter runs").fill("small");
    await eventually(() => page.locator(".run-rows .run-link").count()).toBe(1);
    await page.getByLabel("Filter runs").fill("");
    await page.getByRole("link", { name: "repair/large-model" }).click();

    // The overview shows the figures of `gym eval`; header and tab show the name of the run.
    await page.waitForURL(/#\/run\/repair%2Flarge-model\/overview$/);
    const statistics = JSON.parse(
      await readFile(path.join(cwd, "repair/large-model/rollouts_statistics.json"), "utf8"),
    ) as {
      agents: { reward: { value: number; low: number; high: number } }[];
    };
    const reward = statistics.agents[0]?.reward;
    await eventually(() => text(page, ".fact-value")).toBe(reward?.value.toFixed(4));
    expect(await text(page, ".fact-about")).toBe(`[${reward?.low.toFixed(4)}, ${reward?.high.toFixed(4)}]`);
    expect(await page.title()).toBe("repair/large-model · Overview");
    expect(await text(page, ".run-name")).toBe("repair/large-model");
    expect(await text(page, ".state")).toBe("done, 2 failed");
    expect(await text(page, ".coverage-words")).toBe(
      "94 of 96 rollouts93 completed1 masked2 failed0 running0 missing",
    );
    expect(await page.locator(".histogram figcaption b").allTextContents()).toEqual([
      "Rewards",
      "Output tokens",
      "Turns",
      "Duration",
    ]);
    expect(await page.locator(".line-chart figcaption b").allTextContents()).toEqual([
      "pass@k and pass^k",
      "Rollouts per second",
      "In flight",
    ]);
    expect(await text(page, ".pareto")).toContain("rate_limit2 attempts · 1 rollout failed");

    // A click on a bar selects its rollouts.
    await page.getByRole("button", { name: /^0\.5 to 0\.6: / }).click();
    await page.waitForURL(/rollouts\?q=reward/);
    expect(await page.locator("#search").inputValue()).toBe("reward>=0.5 reward<0.6");
    await eventually(() => page.locator(".row .badge").first().textContent()).toBe("0.5");

    // Tasks by repeats.
    await page.keyboard.press("t");
    await visit(page, `#/${RUN}/tasks`);
    await eventually(() => page.locator(".grid-rows .task-row").count()).toBeGreaterThan(15);
    expect(await page.locator(".row-position .task-row").nth(7).locator(".cell").allTextContents()).toContain(
      "!",
    );
    await page.getByRole("button", { name: /^Mixed / }).click();
    await page.waitForURL(/set=mixed/);
    await page.getByLabel("sort").selectOption("variance");
    await page.getByLabel("against").selectOption("repair/small-model");
    await page.getByRole("button", { name: /^Flipped / }).click();
    await eventually(() => page.locator(".task-other").count()).toBeGreaterThan(0);

    // Repeats side by side, aligned by turn.
    await visit(page, `#/${RUN}/task/4`);
    await eventually(() => page.locator(".pane-head").count()).toBe(4);
    await page.locator(".turn-mark.diverges").waitFor();
    await page.getByRole("button", { name: /^repeat 3: / }).click();
    await eventually(() => page.locator(".pane-head").count()).toBe(3);
    await page.getByRole("link", { name: "Rollout 1" }).click();
    await page.waitForURL(/task\/4\/rollout\/1/);
    expect(problems).toEqual([]);
  });

  it("shows a rollout: verdict, timeline, paired calls, tokens, fields, logs", async () => {
    const { url } = await view(await demo(), ".");
    const { page, problems } = await openPage(browser, `${url}#/${RUN}/task/0/rollout/1`);
    await page.getByRole("heading", { name: "Task 0 · rollout 1" }).waitFor();
    expect(await text(page, ".verdict")).toContain("extracted (extracted_answer)['a', 'b', '']");
    expect(await text(page, ".verdict")).toContain("expected (expected_answer)['a', 'b', '']");
    await page.locator(".judge summary").click();
    await page.getByText('"Is the change small and readable?"').waitFor();

    // Calls with their outputs, colours of a terminal, diffs, markdown.
    expect(await page.locator(".item.call").first().locator(".item-output").textContent()).toContain(
      "4 passed",
    );
    expect(await page.locator(".item-output .ansi-red").first().textContent()).toBe("F");
    expect(await page.locator(".diff-added").first().textContent()).toContain("for letter in line:");
    expect(await page.locator(".markdown table td").first().textContent()).toBe("a,b,");
    await page.keyboard.press("m");
    await eventually(() => page.locator(".markdown").count()).toBe(0);
    await page.keyboard.press("m");

    // The timeline links to the conversation, and kinds can be hidden. The address contains both.
    await page.locator("button.span.tool").first().click();
    await page.waitForURL(/item=\d+/);
    await eventually(() => page.locator(".item.selected.call").count()).toBe(1);
    await page.getByRole("button", { name: /^reasoning \d/ }).click();
    await page.waitForURL(/hide=reasoning/);
    await eventually(() => page.locator(".item.reasoning").count()).toBe(0);

    // Usage of every call, raw request and answer.
    await page.locator(".calls").getByRole("button", { name: "show" }).first().click();
    await page.getByText('"turn 1"').waitFor();
    // The token lens.
    await page.locator(".tokens summary").last().click();
    await eventually(() => page.locator(".sampled .token").count()).toBe(40);
    await page.locator(".logs summary").click();
    await eventually(() => text(page, ".logs")).toContain("No line names rollout 0-1.");
    await page.keyboard.press("e");
    await eventually(() => page.locator(".fields details[open]").count()).toBeGreaterThan(5);

    // Keys: repeats, list, scrolling without leaving the rollout.
    for (const [key, rollout] of [
      ["]", 2],
      ["[", 1],
      ["j", 2],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForURL(new RegExp(`task/0/rollout/${rollout}`));
      // Keys move relative to the shown rollout.
      await page.getByRole("heading", { name: `Task 0 · rollout ${rollout}` }).waitFor();
    }
    // The pane handles keys after it has rendered the rollout.
    await eventually(async () => {
      await page.keyboard.press("PageDown");
      await page.keyboard.press("ArrowDown");
      return page.locator(".rollout-pane").evaluate((main) => main.scrollTop);
    }).toBeGreaterThan(100);
    expect(page.url()).toMatch(/task\/0\/rollout\/2/);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");

    // Failures with the history of attempts.
    await visit(page, `#/${RUN}/failure/3`);
    await page.locator(".failure").filter({ hasText: "sandbox_timeout in stage tool" }).waitFor();
    await eventually(() => page.locator(".attempts li").allTextContents()).toEqual([
      "attempt 1: sandbox_timeout",
      "attempt 2: sandbox_timeout",
    ]);
    await visit(page, `#/${RUN}/task/3/rollout/2`);
    await eventually(() => page.locator(".attempts li").allTextContents()).toMatchObject([
      "attempt 1: rate_limit",
      expect.stringMatching(/^attempt 2: completed/),
    ]);
    expect(problems).toEqual([]);
  });

  it("finds rollouts by queries, annotates and shares them", async () => {
    const cwd = await demo();
    const file = path.join(cwd, "repair/large-model/rollouts.jsonl");
    const { url } = await view(cwd, file);
    const { page, problems } = await openPage(browser, `${url}#/rollouts`);
    await eventually(() => text(page, ".list-state")).toContain("98 lines: 94 rollouts, 4 failed attempts");
    await page.keyboard.press("/");
    await page.keyboard.type('tool:python reward=1 "empty last"');
    await eventually(() => text(page, ".list-state")).toMatch(/^\d+ matches/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await eventually(() => page.locator("mark").count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Next match" }).click();
    await page.locator("mark.current").waitFor();
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("button", { name: "Clear filter" }).click();
    await eventually(() => text(page, ".list-state")).toContain("98 lines");
    await page.locator(".chip.saved button").first().click();
    await eventually(() => page.locator("#search").inputValue()).toContain("tool:python");
    await page.locator("#search").fill("rewrd<1");
    await page.getByText("Did you mean 'reward'?").waitFor();
    await page.locator("#search").fill("is:failed");
    await eventually(() => text(page, ".list-state")).toContain("4 matches");
    await page.locator("#search").fill("");

    // Annotate: in the side file, in the list, in queries.
    await visit(page, "#/task/1/rollout/1");
    await page.getByLabel("Add a label").fill("lazy");
    await page.keyboard.press("Enter");
    await page.locator(".annotate .chip").filter({ hasText: "lazy" }).waitFor();
    await page.getByLabel("Note").fill("gave up");
    await page.getByLabel("Note").blur();
    await page.getByLabel("exclude from exports").check();
    const notes = () => readFile(path.join(cwd, "repair/large-model/rollouts_annotations.jsonl"), "utf8");
    await eventually(async () => JSON.parse((await notes()).trim().split("\n").at(-1) ?? "{}")).toMatchObject(
      {
        _ng_task_index: 1,
        _ng_rollout_index: 1,
        labels: ["lazy"],
        note: "gave up",
        exclude: true,
      },
    );
    await eventually(() => page.locator(".row .tag.label").count()).toBeGreaterThan(0);
    const exported = await runGym(
      ["eval", "export", "--rollouts", file, "--format", "sft", "-o", "sft.jsonl"],
      { cwd },
    );
    expect(exported.stdout).toContain("1 excluded or without the label");

    // One file with the chosen rollouts, without a server.
    await page.getByRole("button", { name: "Choose", exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Save as HTML" }).click(),
    ]);
    const saved = path.join(cwd, "shared.html");
    await download.saveAs(saved);
    const shared = await openPage(browser, `file://${saved}#/task/1/rollout/1`);
    await shared.page.getByRole("heading", { name: "Task 1 · rollout 1" }).waitFor();
    await shared.page.locator(".item.assistant").waitFor();
    // Its figures are of the chosen rollout only.
    await visit(shared.page, "#/overview");
    await shared.page
      .getByText(
        "This file contains 1 of 98 rollouts and failed attempts of the run. All figures are of these only.",
      )
      .waitFor();
    expect(await text(shared.page, ".coverage-words b")).toBe("1 of 1 rollouts");
    expect(await text(shared.page, ".live-note")).toBe("1 rollout");
    await visit(shared.page, "#/rollouts");
    await eventually(() => text(shared.page, ".list-state")).toContain("1 rollout");
    await visit(shared.page, "#/sample/2");
    await shared.page.getByText("This rollout is not part of the file.").waitFor();
    expect(shared.problems).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("shows formulas, but not amounts of money, as formulas", async () => {
    const answer = [
      String.raw`So $x^2 + \frac{1}{2}$ and \(a_1\) hold, as $$\int_0^1 x\,dx$$ shows:`,
      String.raw`\[`,
      String.raw`\begin{aligned} a &= b \\`,
      String.raw`- c &= d \end{aligned}`,
      String.raw`\]`,
      "It costs $5 and $10, not 5$. In $HOME:$PATH, `$y$` is code and $\\frac{1}$ is broken.",
    ].join("\n");
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, answer)]) });
    const { url } = await view(cwd, "run.jsonl");
    const { page, problems } = await openPage(browser, `${url}#/task/0/rollout/0`);
    await eventually(() => page.locator("math").count()).toBe(4);
    expect(await page.locator("math mfrac").count()).toBe(1);
    expect(await page.locator("math mtr").count()).toBe(2);
    expect(await page.locator(".item.assistant .markdown").textContent()).toContain(
      "It costs $5 and $10, not 5$. In $HOME:$PATH, $y$ is code and $\\frac{1}$ is broken.",
    );
    expect(await axeViolations(page)).toEqual([]);
    // A formula with a match shows its source, so that the match can be marked.
    await visit(page, "#/task/0/rollout/0?q=frac");
    await eventually(() => page.locator("mark").allTextContents()).toEqual(["frac", "frac"]);
    await page.keyboard.press("m");
    await eventually(() => page.locator("math").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("links to items and to text in them", async () => {
    const { url } = await view(await demo(), ".");
    const { page, problems } = await openPage(browser, `${url}#/${RUN}/task/0/rollout/1?item=12`);
    const isInSight = () =>
      page.evaluate(`(() => {
        const { top, bottom } = document.getElementById("item-12").getBoundingClientRect();
        return bottom > 0 && top < window.innerHeight;
      })()`);
    const answer = page.locator(".item.assistant");
    await answer.waitFor();
    expect(await answer.getAttribute("id")).toBe("item-12");
    await eventually(() => isInSight()).toBe(true);
    // A double click selects a word; the link of the item contains its range.
    await answer
      .getByText("so an", { exact: false })
      .first()
      .dblclick({ position: { x: 10, y: 8 } });
    const word = await page.evaluate("document.getSelection().toString().trim()");
    await answer.getByRole("link", { name: "Link to item 12" }).click();
    await page.waitForURL(/item=12&chars=\d+-\d+/);
    const linked = (own: Page) =>
      own.evaluate("[...(CSS.highlights.get('linked') ?? [])].map((range) => range.toString().trim())");
    const again = await openPage(browser, withToken(page, url));
    await eventually(() => linked(again.page)).toEqual([word]);
    await again.page.keyboard.press("c");
    await eventually(() => again.page.locator(".item .item-body").count()).toBe(1);
    expect([...problems, ...again.problems]).toEqual([]);
  });

  it("is usable with the keyboard only", async () => {
    const { url } = await view(await demo(), ".");
    const { page, problems } = await openPage(browser, url);
    const tabTo = async (name: RegExp) => {
      for (let step = 0; step < 60; step++) {
        const label = await page.evaluate(
          "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
        );
        if (name.test(String(label))) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab does not lead to ${name}`);
    };
    await page.locator(".run-link").first().waitFor();
    for (const run of ["large", "small"]) {
      await tabTo(new RegExp(`^Choose repair/${run}-model`));
      await page.keyboard.press("Space");
    }
    await page.keyboard.press("Shift+Tab");
    await tabTo(/^repair\/small-model$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/small-model\/overview/);
    await page.locator(".charts").waitFor();
    await tabTo(/^0 to 0\.1: \d/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/rollouts\?q=reward/);
    await page.keyboard.press("j");
    await page.waitForURL(/task\/\d+\/rollout\/\d+/);
    await page.locator('article[data-loaded="true"]').waitFor();
    await page.keyboard.press("n");
    await page.waitForURL(/item=\d+/);
    await page.keyboard.press("s");
    await eventually(() => page.locator(".pane-head").count()).toBe(4);
    await page.keyboard.press("t");
    await page.locator(".cell").nth(8).waitFor();
    await tabTo(/^Task 0, /);
    await page.keyboard.press("Enter");
    await page.waitForURL(/task\/0\/rollout\/\d/);
    await page.getByRole("heading", { name: /^Task 0 · rollout/ }).waitFor();
    await page.keyboard.press("x");
    await page.getByLabel("exclude from exports").and(page.locator(":checked")).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("is:excluded");
    await page.keyboard.press("Escape");
    await eventually(() => text(page, ".list-state")).toContain("1 match");
    await page.keyboard.press("v");
    await page.waitForURL(/\/live/);
    await page.keyboard.press("d");
    await page.waitForURL(/\/compare/);
    await page.keyboard.press("g");
    await page.waitForURL(/#\/runs/);
    expect(problems).toEqual([]);
  });

  it("compares runs, and works as a static folder", async () => {
    const cwd = await demo();
    const { url } = await view(cwd, "repair/small-model", "repair/large-model");
    const { page, problems } = await openPage(browser, url);
    await page.getByRole("heading", { name: "Compare" }).waitFor();
    await eventually(() => page.locator(".tasks-table tbody tr").count()).toBe(24);
    const row = await page.locator("tbody tr").nth(1).textContent();
    expect(row).toContain("large-model");
    const compared = await runGym(["eval", "compare", "repair/small-model", "repair/large-model", "--json"], {
      cwd,
    });
    const { difference } = JSON.parse(compared.stdout) as { difference: { value: number } };
    expect(await page.locator("section").first().textContent()).toContain(difference.value.toFixed(3));
    await page.getByRole("button", { name: "regressed" }).click();
    await page.waitForURL(/change=regressed/);
    await page.getByText("servers.policy_model.openai_model").waitFor();
    expect(problems).toEqual([]);

    const written = await runGym(["eval", "view", "repair/small-model", "--to-folder", "site"], { cwd });
    expect(written).toMatchObject({ exitCode: 0 });
    const { createServer } = await import("node:http");
    const site = createServer(async (request, response) => {
      const name = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname).replace(
        /\/$/,
        "/index.html",
      );
      const type = name.endsWith(".js")
        ? "text/javascript"
        : name.endsWith(".css")
          ? "text/css"
          : name.endsWith(".html")
            ? "text/html"
            : "application/json";
      const content = await readFile(path.join(cwd, "site", name)).catch(() => undefined);
      response.writeHead(content ? 200 : 404, { "content-type": type }).end(content);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void site.close());
    const { port } = site.address() as { port: number };
    // From a web host, and from the disk.
    for (const address of [`http://127.0.0.1:${port}/`, `file://${cwd}/site/index.html`]) {
      const copy = await openPage(browser, `${address}#/overview`, { own: [`file://${cwd}/site/`] });
      await copy.page.locator(".coverage-words").waitFor();
      await visit(copy.page, "#/rollouts?q=the");
      await copy.page.getByText("searched only the beginnings of questions and answers").waitFor();
      await visit(copy.page, "#/tasks?set=mixed");
      await eventually(() => copy.page.locator(".grid-rows .task-row").count()).toBeGreaterThan(3);
      await visit(copy.page, "#/task/0/rollout/0");
      await copy.page.getByRole("heading", { name: "Task 0 · rollout 0" }).waitFor();
      await copy.page.locator(".item.assistant").waitFor();
      await visit(copy.page, "#/task/4");
      await eventually(() => copy.page.locator(".pane-head").count()).toBe(4);
      expect(copy.problems.filter((problem) => !problem.includes("favicon"))).toEqual([]);
    }
    // The copy shows the same grid as the viewer.
    const grid = async (from: string) => {
      const { page: own } = await openPage(browser, from);
      await eventually(() => own.locator(".grid-rows .task-row").count()).toBeGreaterThan(15);
      return (await own.locator(".grid-rows .task-row").allTextContents()).slice(0, 15);
    };
    const { url: original } = await view(cwd, "repair/small-model");
    expect(await grid(`file://${cwd}/site/index.html#/tasks`)).toEqual(await grid(`${original}#/tasks`));
  });

  it("follows a run, and shows lines that are not rows", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "first")]) });
    const file = path.join(cwd, "run.jsonl");
    const { url } = await view(cwd, "run.jsonl");
    const { page, problems } = await openPage(browser, `${url}#/rollouts`);
    await eventually(() => text(page, ".list-state")).toContain("1 rollout");
    await appendFile(file, `${lines([rollout(1, 0, "second")])}{"torn`);
    await eventually(() => text(page, ".list-state")).toContain("2 rollouts");
    await page.getByText("line 3 is not complete").waitFor();
    await appendFile(file, '": oops}\n');
    await writeFile(
      path.join(cwd, "run_failures.jsonl"),
      lines([
        rollout(1, 1, "", {
          response: undefined,
          _ng_failure_class: "timeout",
          _ng_failure: { class: "timeout", stage: "model", retryable: true, message: "took too long" },
        }),
      ]),
    );
    await page.getByRole("row", { name: /attempt.*failed.*timeout/ }).click();
    await page.locator(".failure").filter({ hasText: "took too long" }).waitFor();
    await page.getByRole("option", { name: /bad line/ }).click();
    await page.getByText(`${file}:3`).waitFor();
    await page.keyboard.press("f");
    await eventually(() => text(page, ".list-state")).toContain("1 match");
    // A new run replaces the file.
    await writeFile(file, lines([rollout(9, 0, "again")]));
    await page.getByText("run.jsonl has no line 3. It has 1 line so far.").waitFor();
    await visit(page, "#/task/9/rollout/0");
    await page.getByRole("heading", { name: "Task 9 · rollout 0" }).waitFor();
    await rm(file);
    await page.getByText("The rollouts file was removed or renamed").waitFor();
    expect(problems).toEqual([]);
  });

  it.each([1440, 800, 390])(
    "has nothing that axe finds wrong, and nothing wider than a window of %i px, light and dark",
    { timeout: 120_000 },
    async (width) => {
      const { url } = await view(await demo(), ".");
      const { page } = await openPage(browser, url, { width, height: 900 });
      for (const [hash, selector] of [
        ["#/runs", ".run-link"],
        [`#/${RUN}/overview`, ".charts"],
        [`#/${RUN}/tasks`, ".task-row"],
        [`#/${RUN}/rollouts`, ".row"],
        [`#/${RUN}/task/0/rollout/1`, ".fields"],
        [`#/${RUN}/failure/3`, ".failure"],
        [`#/${RUN}/task/4`, ".pane-cell .item"],
        ["#/compare?runs=repair%252Fsmall-model%2Crepair%252Flarge-model", ".tasks-table"],
        [`#/${RUN}/live`, ".live .empty-state"],
        [`#/${RUN}/files`, ".files section"],
      ] as const) {
        await visit(page, hash);
        await page.locator(selector).first().waitFor();
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect([hash, colorScheme, await axeViolations(page)]).toEqual([hash, colorScheme, []]);
        }
        const wide = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
        expect([hash, wide]).toEqual([hash, 0]);
      }
      await visit(page, "#/runs");
      await page.keyboard.press("?");
      await page.getByRole("heading", { name: "Keyboard" }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
    },
  );
});
