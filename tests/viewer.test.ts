import { type ChildProcess, spawn } from "node:child_process";
import { appendFile, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { messageItem, verifyBody } from "../src/hosting/response-items.ts";
import { project, repository, runGym } from "./gym-process.ts";
import { findBrowser, startBrowser } from "./support/browser.ts";
import { freePort } from "./support/free-port.ts";

const TIMEOUT = 15_000;

/** Expects what need not be so at once. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: TIMEOUT });

interface Viewer {
  url: string;
  child: ChildProcess;
  output: () => string;
}

/** Starts `gym eval view --json` and waits for the address it prints. */
async function startViewer(argv: readonly string[], cwd: string, program = "bin/gym.js"): Promise<Viewer> {
  const child = spawn(process.execPath, [path.resolve(repository, program), ...argv], { cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  await eventually(() => output).toMatch(/https?:\/\/\S+\//);
  return { url: /https?:\/\/[^\s"]+/.exec(output)?.[0] ?? "", child, output: () => output };
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", (code) => resolve(code)));
}

/** A real run: five tasks, three rollouts each. */
async function storedRun(): Promise<string> {
  const cwd = await project({});
  const { exitCode, stderr } = await runGym(
    [
      "eval",
      "run",
      "--resources-server",
      "example_single_tool_call",
      "--model-type",
      "random_model",
      "--num-repeats",
      "3",
      "-o",
      "run.jsonl",
    ],
    { cwd },
  );
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  return cwd;
}

type Row = Record<string, unknown>;

const rollout = (task: number, index: number, answer: string, more: Row = {}): Row => ({
  ...verifyBody({ responses_create_params: { input: `question ${task}` } }, messageItem(answer)),
  reward: 1,
  agent_ref: { name: "solver" },
  _ng_task_index: task,
  _ng_rollout_index: index,
  ...more,
});
const lines = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

describe("gym eval view", () => {
  it("serves until Ctrl-C, on the next port when one is taken", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const port = await freePort();
    const first = await startViewer(["eval", "view", "run.jsonl", "--port", String(port), "--json"], cwd);
    expect(JSON.parse(first.output())).toEqual({
      url: `http://127.0.0.1:${port}/`,
      host: "127.0.0.1",
      port,
      file: path.join(cwd, "run.jsonl"),
    });
    const second = await startViewer(["eval", "view", ".", "--port", String(port)], cwd);
    expect(second.output()).toContain(`Port ${port} is taken; using ${port + 1}.`);
    expect(second.output()).toContain(`Viewing run.jsonl at http://127.0.0.1:${port + 1}/`);
    const rows = async () => {
      const status = (await (await fetch(`${second.url}api/status`)).json()) as {
        rollouts: { rows: number };
      };
      return status.rollouts.rows;
    };
    await eventually(rows).toBe(1);
    for (const { child } of [first, second]) {
      const end = ended(child);
      child.kill("SIGINT");
      expect(await end).toBe(0);
    }
  });

  it("is ng_viewer, too", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const program = path.join(cwd, "ng_viewer");
    await symlink(path.join(repository, "bin/legacy.js"), program);
    const port = await freePort();
    const words = ["+jsonl_fpath=run.jsonl", "+server_host=0.0.0.0", `+server_port=${port}`];
    const viewer = await startViewer(words, cwd, program);
    expect(viewer.output()).toContain("`ng_viewer` is deprecated");
    expect(viewer.output()).toContain("use `gym eval view` instead");
    expect(viewer.output()).toContain("Everyone who can reach this machine can read the rollouts.");
    expect(viewer.url).toBe(`http://localhost:${port}/`);
  });

  it("does what its guide says", async () => {
    const guide = await readFile(path.join(repository, "docs/guide/viewer.md"), "utf8");
    const [, commands = ""] = /```bash\n([\s\S]*?)```/.exec(guide) ?? [];
    const [run = [], view = []] = commands
      .trim()
      .split("\n")
      .map((line) => line.split(" ").slice(1));
    const cwd = await project({});
    expect((await runGym(run, { cwd })).exitCode).toBe(0);
    const { url } = await startViewer([...view, "--port", "0"], cwd);
    const total = async () => ((await (await fetch(`${url}api/rollouts`)).json()) as { total: number }).total;
    await eventually(total).toBe(20);
  });

  it("says what is wrong with what it was given", async () => {
    const cwd = await project({ "a.jsonl": "", "b.jsonl": "" });
    const gym = async (...words: string[]) => {
      const { exitCode, stderr } = await runGym(["eval", "view", ...words], { cwd });
      return { exitCode, stderr };
    };
    expect(await gym("none.jsonl")).toEqual({
      exitCode: 1,
      stderr: "Error: Input file not found: 'none.jsonl' (RUN).\n",
    });
    expect(await gym(".")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("name one of: a.jsonl, b.jsonl"),
    });
    expect(await gym()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("jsonl_fpath") });
    expect(await gym("a.jsonl", "--port", "99999")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("99999"),
    });
  });
});

const executable = findBrowser();

describe.skipIf(executable === undefined)("the viewer in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser(executable ?? "");
  });
  afterAll(() => browser?.close());

  /** A page on which nothing goes wrong and which asks nobody else for anything. */
  async function openPage(url: string, hash = ""): Promise<{ page: Page; problems: string[] }> {
    const context = await browser.newContext({ viewport: { width: 1300, height: 800 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:image/"))
        problems.push(`request: ${request.url()}`);
    });
    await page.goto(`${url}${hash}`);
    return { page, problems };
  }

  const option = (page: Page, name: RegExp) => page.getByRole("option", { name });

  it("shows a run: list, conversation, filters, keys, repeats, overview", async () => {
    const cwd = await storedRun();
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const rows = (await readFile(path.join(cwd, "run.jsonl"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { page, problems } = await openPage(url);

    // The first sample is selected, by the label the original gave it.
    const selected = page.locator('[role="option"][aria-selected="true"]');
    await selected.waitFor();
    expect(await selected.getAttribute("title")).toBe(`Sample 1 - Responses ID ${rows[0].response.id}`);
    await eventually(() => page.locator(".list-state").textContent()).toBe("15 rows");
    await eventually(() => page.locator("header.top").textContent()).toContain("15 of 15 rollouts");

    // The fields, then the conversation.
    await page.getByText("Metadata - reward", { exact: true }).waitFor();
    const titles = await page.locator(".entry .title").allTextContents();
    expect(titles.slice(0, 3)).toEqual([
      "Metadata - responses_create_params",
      "Metadata - response",
      "Metadata - reward",
    ]);
    expect(titles).toContain("Sampling params");
    expect(titles).toContain("Tools");
    expect(titles).toContain("Turn 0 Step 0 - System message");
    expect(titles).toContain("Turn 1 Step 0 - User message");
    expect(titles.at(-1)).toMatch(/^Turn 1 Step \d+ - Assistant message$/);

    // The statistics are closed until somebody opens them.
    expect(await page.getByText("Number of examples").count()).toBe(0);
    await page.getByText("Aggregate metrics").click();
    await page.getByText('"Number of examples": 15').waitFor();
    await page.getByText("Aggregate metrics").click();

    // Keys walk through the list, and the address follows.
    await page.keyboard.press("j");
    const address = (row: Row) =>
      new RegExp(`#/task/${row["_ng_task_index"]}/rollout/${row["_ng_rollout_index"]}$`);
    await page.waitForURL(address(rows[1]));
    await page.keyboard.press("j");
    await page.waitForURL(address(rows[2]));
    await page.keyboard.press("k");
    await page.waitForURL(address(rows[1]));

    // Search.
    await page.keyboard.press("/");
    await page.keyboard.type("nairobi");
    await eventually(() => page.locator(".list-state").textContent()).toMatch(/^3 matches$/);
    expect(page.url()).toContain("text=nairobi");
    // Leaving the field keeps what was searched for.
    await page.keyboard.press("Escape");
    expect(await page.locator("#search").inputValue()).toBe("nairobi");
    expect(await page.locator("#search:focus").count()).toBe(0);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await eventually(() => page.locator(".list-state").textContent()).toBe("15 rows");

    // Rewards that no rollout has.
    await page.getByLabel("Least reward").fill("2");
    await eventually(() => page.locator(".list-state").textContent()).toBe("0 matches");
    await page.getByRole("button", { name: "Clear filters" }).click();

    // The repeats of a task.
    await page.goto(`${url}#/task/3/rollout/1`);
    await page.getByRole("heading", { name: "Task 3 · rollout 1" }).waitFor();
    await page.keyboard.press("t");
    await page.waitForURL(/#\/task\/3$/);
    await eventually(() => page.locator(".repeat").count()).toBe(3);
    await page.getByRole("button", { name: "Rollout 2" }).click();
    await page.waitForURL(/#\/task\/3\/rollout\/2$/);

    // Rewards and tasks.
    await page.keyboard.press("o");
    await page.locator(".chart canvas").waitFor();
    await eventually(() => page.locator("button.task-row").count()).toBe(5);
    await page.getByRole("button", { name: /^Task 4: / }).click();
    await page.waitForURL(/#\/task\/4$/);
    expect(problems).toEqual([]);
  });

  it("follows a run, shows its failures, and lines that are no rows", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "first")]) });
    const file = path.join(cwd, "run.jsonl");
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(url);
    await eventually(() => page.locator(".list-state").textContent()).toBe("1 row");
    await appendFile(file, `${lines([rollout(1, 0, "second")])}{"torn`);
    await eventually(() => page.locator(".list-state").textContent()).toBe("2 rows");
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
    await option(page, /^Failure 1.*failed: timeout/).click();
    await page.locator(".problem-box").filter({ hasText: "took too long" }).waitFor();
    await option(page, /^Sample 3, cannot be read/).click();
    await page.getByText(`${file}:3`).waitFor();
    await page.keyboard.press("f");
    await eventually(() => page.locator(".list-state").textContent()).toBe("1 match");
    // A run that begins anew replaces its file.
    await writeFile(file, lines([rollout(9, 0, "again")]));
    await page.getByText("run.jsonl has no line 3; it has 1 (so far).").waitFor();
    await page.goto(`${url}#/`);
    await option(page, /^Sample 1/).waitFor();
    await eventually(() => page.locator("h1").textContent()).toContain("Task 9");
    expect(problems).toEqual([]);
  });

  it("shows hostile rollouts as the text they are", async () => {
    const attack = `<script>window.hit=1</script><img src=x onerror="window.hit=2"><svg onload="window.hit=3">`;
    const picture = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg"><script>window.hit=4</script><image href="https://evil.example/a.png"/></svg>`)}`;
    const hostile = rollout(0, 0, attack, {
      [attack]: attack,
      ["__proto__x"]: { nested: attack },
      agent_ref: { name: attack },
      lone: "\ud800 half a character",
      deep: `${"[".repeat(5000)}${"]".repeat(5000)}`,
      long: "x".repeat(3_000_000),
      responses_create_params: {
        input: [
          {
            role: "user",
            content: [
              { type: "input_image", image_url: picture },
              { type: "input_image", image_url: "javascript:window.hit=5" },
            ],
          },
          { role: "user", content: [{ type: "input_image", image_url: "https://evil.example/track.png" }] },
        ],
      },
    });
    const withPrototype = JSON.stringify(hostile).replace('"__proto__x"', '"__proto__"');
    const cwd = await project({ "run.jsonl": `${withPrototype}\n${attack}\n` });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const { page, problems } = await openPage(url, "#/sample/1");
    await page.locator(".turns .entry.assistant pre").waitFor();
    expect(await page.locator(".turns .entry.assistant pre").textContent()).toBe(attack);
    await page.keyboard.press("e");
    await eventually(() => page.locator(".fields .body").count()).toBeGreaterThan(8);
    await page.getByRole("button", { name: "Show all 3,000,000 characters" }).click();
    // A picture elsewhere is a link that nobody follows by himself; an address that is none of the web is text.
    expect(await page.locator(".turns a").count()).toBe(1);
    expect(await page.locator(".turns a").getAttribute("href")).toBe("https://evil.example/track.png");
    await page.getByText("(image javascript:window.hit=5)").waitFor();
    await option(page, /^Sample 2/).click();
    await eventually(() => page.locator("article pre").filter({ hasText: "<script>" }).count()).toBe(1);
    expect(await page.locator("main script, main svg, main iframe").count()).toBe(0);
    expect(await page.evaluate("window.hit")).toBeUndefined();
    expect(await page.evaluate("({}).nested")).toBeUndefined();
    expect(problems).toEqual([]);
  });
});
