import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { messageItem, verifyBody } from "../../src/servers/hosting/response-items.ts";
import { repository } from "../gym-process.ts";

export const TIMEOUT = 15_000;

/** An expectation that is met within the timeout. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: TIMEOUT });

export interface Viewer {
  /** With the token and, if requested, the page. */
  url: string;
  /** Up to the path, without token. */
  base: string;
  token: string;
  child: ChildProcess;
  output: () => string;
}

/** Starts `gym eval view` and waits for the address it prints. */
export async function startViewer(
  argv: readonly string[],
  cwd: string,
  { program = "bin/gym.js", env = {} }: { program?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Viewer> {
  const child = spawn(process.execPath, [path.resolve(repository, program), ...argv], {
    cwd,
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  await eventually(() => output).toMatch(/https?:\/\/\S+\/\S*(?:"|\n)/);
  const url = /https?:\/\/[^\s"]+/.exec(output)?.[0] ?? "";
  const { origin, searchParams } = new URL(url);
  return { url, base: `${origin}/`, token: searchParams.get("token") ?? "", child, output: () => output };
}

export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", (code) => resolve(code)));
}

/** Sends a request to the viewer's API with a bearer token. */
export async function ask<T>({ base, token }: Viewer, address: string): Promise<T> {
  const response = await fetch(`${base}api/${address}`, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as T;
}

export type Row = Record<string, unknown>;

export const rollout = (task: number, index: number, answer: string, more: Row = {}): Row => ({
  ...verifyBody({ responses_create_params: { input: `question ${task}` } }, messageItem(answer)),
  reward: 1,
  agent_ref: { name: "solver" },
  _ng_task_index: task,
  _ng_rollout_index: index,
  ...more,
});
export const lines = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

export interface OpenPage {
  page: Page;
  /** Errors of the page, and requests to other hosts. */
  problems: string[];
}

/** Opens a page and records its errors and foreign requests. */
export async function openPage(
  browser: Browser,
  url: string,
  options: { width?: number; height?: number; dark?: boolean; own?: string[] } = {},
): Promise<OpenPage> {
  const { width = 1300, height = 850, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
  });
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
  const site = url.startsWith("http") ? new URL(url).origin : url.replace(/#.*/, "");
  const own = [site, "data:image/", ...(options.own ?? [])];
  page.on("request", (request) => {
    if (!own.some((start) => request.url().startsWith(start))) problems.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, problems };
}

/** The address of a page for another browser, which needs the token again. */
export function withToken(page: Page, url: string): string {
  const address = new URL(page.url());
  address.search = new URL(url).search;
  return address.href;
}

/** Goes to another page of the viewer. */
export async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate(`window.location.hash = ${JSON.stringify(hash)}`);
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The violations that axe finds in the page. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, because the policy of the page rejects foreign scripts.
  await page.evaluate(axeSource);
  const options = JSON.stringify({
    runOnly: { type: "tag", values: AXE_TAGS },
    // Voice control selects a button by its visible text.
    rules: { "label-content-name-mismatch": { enabled: true } },
  });
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `axe.run(document, ${options})`,
  );
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ html }) => html.slice(0, 160))
        .join(" | ")}`,
  );
}
