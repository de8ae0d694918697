import { appendFile, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { request } from "node:http";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { messageItem, verifyBody } from "../hosting/response-items.ts";
import type { Overview, PanelTexts, RowAnswer, RowsPage, TasksPage, ViewerStatus } from "./api-types.ts";
import { findRunFiles } from "./run-files.ts";
import { ViewerServer } from "./server.ts";
import { ViewedRun } from "./viewed-run.ts";
import { loadWebFiles } from "./web-files.ts";

const row = (task: number, rollout: number, reward: unknown, more: Record<string, unknown> = {}) => ({
  ...verifyBody(
    { responses_create_params: { input: `question ${task}` } },
    messageItem(reward === 1 ? "Grüße" : "Hmm."),
  ),
  reward,
  agent_ref: { name: task < 2 ? "solver" : "other" },
  _ng_task_index: task,
  _ng_rollout_index: rollout,
  ...more,
});

const failed = (task: number, rollout: number, name: string) =>
  row(task, rollout, 1, { _ng_failure_class: name, mask_sample: true, response: undefined });

const ROWS = [row(1, 0, 1), row(0, 0, 0), row(2, 0, 0.5), row(0, 1, 1), row(2, 1, 1, { mask_sample: true })];
const FAILURES = [failed(1, 1, "timeout"), failed(0, 0, "judge_failed")];
const text = (rows: readonly unknown[]) => rows.map((value) => `${JSON.stringify(value)}\n`).join("");

async function viewer(content = `${text(ROWS)}{broken\n`, failures = text(FAILURES)) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
  const file = path.join(directory, "run.jsonl");
  await writeFile(file, content);
  if (failures) await writeFile(path.join(directory, "run_failures.jsonl"), failures);
  await mkdir(path.join(directory, "web/assets"), { recursive: true });
  await writeFile(path.join(directory, "web/index.html"), "<!doctype html>");
  await writeFile(path.join(directory, "web/assets/a.js"), "1");
  const run = new ViewedRun(await findRunFiles(file));
  const webFiles = await loadWebFiles(path.join(directory, "web"));
  const server = await ViewerServer.listen(run, { host: "127.0.0.1", port: 0, webFiles });
  onTestFinished(async () => {
    await server.close();
    await run.close();
    await rm(directory, { recursive: true });
  });
  await run.update();
  const get = (address: string, headers: Record<string, string> = {}, method = "GET") =>
    new Promise<{ status: number; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
      // The address goes out as it is: no client tidies up `/../`.
      const sent = request(
        { host: "127.0.0.1", port: server.port, path: address, headers, method },
        (answer) => {
          let body = "";
          answer.setEncoding("utf8").on("data", (chunk: string) => {
            body += chunk;
          });
          answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }));
        },
      );
      sent.on("error", reject).end();
    });
  const api = async <T>(address: string) => {
    const { status, body } = await get(`/api/${address}`);
    expect({ status, body: status === 200 ? "" : body }).toEqual({ status: 200, body: "" });
    return JSON.parse(body) as T;
  };
  return { directory, file, run, server, webFiles, get, api };
}

const places = ({ rows }: RowsPage) => rows.map(({ source, line }) => `${source[0]}${line}`).join(" ");

describe("the viewer's API", () => {
  it("tells how far it is", async () => {
    const { api, file, directory } = await viewer();
    await writeFile(path.join(directory, "run_manifest.json"), '{"materialized_inputs":{"rows":8}}');
    const status = await api<ViewerStatus>("status");
    expect(status).toMatchObject({
      rollouts: { name: "run.jsonl", path: file, rows: 6, torn_line: null, exists: true },
      failures: { rows: 2 },
      indexing: false,
      expected: 8,
      agents: ["other", "solver"],
      failure_classes: ["judge_failed", "timeout"],
      unreadable: 1,
      error: null,
    });
    expect(status.rollouts.indexed_bytes).toBe(status.rollouts.bytes);
  });

  it("lists, sorts and pages the rows of both files", async () => {
    const { api } = await viewer();
    const page = await api<RowsPage>("rollouts");
    expect(page.total).toBe(8);
    expect(places(page)).toBe("r1 r2 r3 r4 r5 r6 f1 f2");
    expect(page.rows[0]).toEqual({
      source: "rollouts",
      line: 1,
      state: "ok",
      task: 1,
      rollout: 0,
      reward: 1,
      agent: "solver",
      failure: null,
      masked: false,
      output_tokens: null,
      response_id: "resp_test",
      prompt: "question 1",
      answer: "Grüße",
      problem: null,
    });
    expect(page.rows[5]).toMatchObject({ state: "unreadable", problem: expect.stringContaining("not JSON") });
    // The reward of a failed attempt is none.
    expect(page.rows[6]).toMatchObject({ failure: "timeout", reward: null });
    expect(places(await api("rollouts?sort=task"))).toBe("r2 f2 r4 r1 f1 r3 r5 r6");
    expect(places(await api("rollouts?sort=reward&order=desc"))).toBe("r1 r4 r5 r3 r2 r6 f1 f2");
    expect(places(await api("rollouts?sort=reward"))).toBe("r2 r3 r1 r4 r5 r6 f1 f2");
    expect(places(await api("rollouts?order=desc&offset=1&limit=3"))).toBe("f1 r6 r5");
    expect(await api("rollouts?sort=task&limit=0&locate=rollouts:3")).toMatchObject({ rows: [], located: 5 });
    expect(await api("rollouts?status=failed&limit=0&locate=rollouts:3")).toMatchObject({ located: null });
  });

  it("filters", async () => {
    const { api } = await viewer();
    const found = async (query: string) => places(await api<RowsPage>(`rollouts?${query}`));
    expect(await found("reward_min=0.5")).toBe("r1 r3 r4 r5");
    expect(await found("reward_min=0.1&reward_max=0.9")).toBe("r3");
    expect(await found("agent=other")).toBe("r3 r5");
    expect(await found("agent=nobody")).toBe("");
    expect(await found("status=failed")).toBe("f1 f2");
    expect(await found("status=completed")).toBe("r1 r2 r3 r4 r5");
    expect(await found("status=masked")).toBe("r5 f1 f2");
    expect(await found("status=invalid")).toBe("r6");
    expect(await found("failure=timeout")).toBe("f1");
    expect(await found("task=0")).toBe("r2 r4 f2");
    expect(await found("text=gr%C3%BC%C3%9FE")).toBe("r1 r4 r5");
    expect(await found("text=timeout&status=failed")).toBe("f1");
  });

  it("refuses what it does not understand", async () => {
    const { get } = await viewer();
    for (const [address, status, message] of [
      ["/api/rollouts?limit=501", 400, "limit"],
      ["/api/rollouts?offset=-1", 400, "offset"],
      ["/api/rollouts?sort=sideways", 400, "sort"],
      ["/api/rollouts?reward_min=much", 400, "reward_min"],
      ["/api/rollouts?__proto__=1", 400, "Unknown parameter '__proto__'"],
      [`/api/rollouts?text=${"x".repeat(501)}`, 400, "text"],
      ["/api/row?line=0", 400, "line"],
      ["/api/row?source=secrets&line=1", 400, "source"],
      ["/api/row?line=99", 404, "run.jsonl has no line 99"],
      ["/api/nothing", 404, "/api/nothing"],
      ["/api/constructor", 404, ""],
      ["/../run.jsonl", 404, ""],
      ["/assets/..%2f..%2frun.jsonl", 404, ""],
      ["//evil.example/", 404, ""],
    ] as const) {
      const answer = await get(address);
      expect([address, answer.status]).toEqual([address, status]);
      expect(JSON.parse(answer.body).error).toContain(message);
    }
    expect((await get("/", {}, "POST")).status).toBe(405);
    expect((await get("/", { host: "evil.example" })).status).toBe(403);
    expect((await get("/api/status", { host: "localhost", "sec-fetch-site": "cross-site" })).status).toBe(
      403,
    );
  });

  it("gives a row as it was written", async () => {
    const { get, api } = await viewer(`{"reward": 1.0,  "big":12345678901234567890,"nan":NaN}\n{"a`);
    const { body } = await get("/api/row?line=1");
    expect(body).toContain('"row":{"reward": 1.0,  "big":12345678901234567890,"nan":NaN}}');
    expect(body).toContain('"state":"invalid"');
    const { api: broken, file } = await viewer("{broken\n");
    expect(await broken<RowAnswer>("row?line=1")).toMatchObject({
      row: null,
      raw: "{broken",
      path: file,
      problems: [{ message: expect.stringContaining("not JSON") }],
    });
    expect(await api<ViewerStatus>("status")).toMatchObject({ rollouts: { rows: 1, torn_line: 2 } });
  });

  it("sums up rewards and tasks; failed and masked rows do not count", async () => {
    const { api } = await viewer();
    const overview = await api<Overview>("overview");
    expect(overview).toMatchObject({
      rewarded: 4,
      mean: 0.625,
      passed: 2,
      failed: 2,
      masked: 1,
      pass_threshold: 1,
    });
    expect(overview.bins).toHaveLength(20);
    expect(overview.bins.filter(({ count }) => count > 0).map(({ from, count }) => [from, count])).toEqual([
      [0, 1],
      [0.5, 1],
      [expect.closeTo(0.95), 2],
    ]);
    expect((await api<Overview>("overview?pass_threshold=0.5")).passed).toBe(3);
    const { tasks } = await api<TasksPage>("tasks");
    expect(tasks).toEqual([
      { task: 0, rollouts: 2, failed: 1, rewarded: 2, passed: 1, mean: 0.5, min: 0, max: 1 },
      { task: 1, rollouts: 1, failed: 1, rewarded: 1, passed: 1, mean: 1, min: 1, max: 1 },
      { task: 2, rollouts: 2, failed: 0, rewarded: 1, passed: 0, mean: 0.5, min: 0.5, max: 0.5 },
    ]);
    const best = await api<TasksPage>("tasks?sort=reward&order=desc&limit=1");
    expect(best).toMatchObject({ total: 3, tasks: [{ task: 1 }] });
  });

  it("gives the statistics and the metrics files of the run", async () => {
    const { api, directory } = await viewer();
    await writeFile(path.join(directory, "run_aggregate_metrics.json"), "[1]");
    const { dataset, files } = await api<PanelTexts>("statistics");
    expect(JSON.parse(dataset)).toMatchObject({ "Number of examples": 5 });
    expect(dataset).toContain('"Average": 0.7');
    expect(files).toEqual([{ name: "run_aggregate_metrics.json", text: "[1]" }]);
  });

  it("follows the run", async () => {
    const { api, run, file } = await viewer(text(ROWS.slice(0, 2)), "");
    const controller = new AbortController();
    const following = run.follow(controller.signal);
    const before = await api<RowsPage>("rollouts?text=question");
    expect(before).toMatchObject({ total: 2, search: { done: true } });
    await appendFile(file, text(ROWS.slice(2)));
    await expect
      .poll(async () => (await api<RowsPage>("rollouts?text=question")).total, { timeout: 5000 })
      .toBe(5);
    expect((await api<ViewerStatus>("status")).version).toBeGreaterThan(before.version);
    controller.abort();
    await following;
  });

  it("says so when a row is asked for whose file was written anew", async () => {
    const { get, api, run, file } = await viewer(text(ROWS.slice(0, 3)), "");
    const row = async (parameters: string) => {
      const { status, body } = await get(`/api/row?${parameters}`);
      return { status, ...(JSON.parse(body) as { code?: string; state?: string }) };
    };
    const changed = { status: 200, source: "rollouts", state: "changed" };
    for (const replaced of ["", text([ROWS[3]]), text(ROWS.toReversed())]) {
      const { generation } = await api<ViewerStatus>("status");
      expect(await row(`line=1&generation=${generation}`)).toMatchObject({ status: 200, state: "ok" });
      // As `fs.writeFile` does it; the viewer has not looked since.
      await writeFile(file, replaced);
      expect(await row("line=1")).toMatchObject({ status: 409, code: "VIEWER_FILE_CHANGED" });
      expect(await row(`line=1&generation=${generation}`)).toEqual({ ...changed, line: 1 });
      expect((await api<RowsPage>("rollouts?text=question")).rows.length).toBeLessThanOrEqual(3);
      await run.update();
      expect((await api<ViewerStatus>("status")).generation).toBe(generation + 1);
      // Neither a row of the new file nor an error to one who still looks at the old.
      expect(await row(`line=1&generation=${generation}`)).toEqual({ ...changed, line: 1 });
      await writeFile(file, text(ROWS.slice(0, 3)));
      await run.update();
    }
    expect(await row("line=1&generation=-1")).toMatchObject({ status: 400 });
  });

  it("never fails while the file is written anew again and again", async () => {
    const { get, run, file } = await viewer(text(ROWS), "");
    const big = text(Array.from({ length: 400 }, () => ROWS).flat());
    let writing = true;
    const updating = (async () => {
      while (writing) await run.update();
    })();
    const answers = new Map<string, number>();
    const asking = ["row?line=1", "row?line=4&generation=0", "rollouts?text=question", "statistics"].map(
      async (address) => {
        while (writing) {
          const { status, body } = await get(`/api/${address}`);
          JSON.parse(body);
          const seen = `${address} ${status}`;
          answers.set(seen, (answers.get(seen) ?? 0) + 1);
        }
      },
    );
    for (let time = 0; time < 40; time++) await writeFile(file, time % 2 === 0 ? text([ROWS[1]]) : big);
    writing = false;
    await Promise.all([updating, ...asking]);
    const statuses = new Set([...answers.keys()].map((seen) => seen.split(" ")[1]));
    // 404: there is no such line at that moment; 409: ask again.
    for (const status of statuses) expect(["200", "404", "409"]).toContain(status);
    expect([...answers.keys()].filter((seen) => /generation=0 (?!200)/.test(seen))).toEqual([]);
  });

  it("does without files beside the rollouts that cannot be read", async () => {
    const { api, directory } = await viewer();
    await mkdir(path.join(directory, "run_manifest.json"));
    await mkdir(path.join(directory, "run_aggregate_metrics.json"));
    expect(await api<ViewerStatus>("status")).toMatchObject({ expected: null });
    const { files } = await api<PanelTexts>("statistics");
    expect(files).toMatchObject([
      { name: "run_aggregate_metrics.json", text: expect.stringContaining("EISDIR") },
    ]);
  });

  it("sends its pages with headers that keep everything else out", async () => {
    const { get } = await viewer();
    const page = await get("/");
    expect(page).toMatchObject({ status: 200, body: "<!doctype html>" });
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
    expect(page.headers["x-frame-options"]).toBe("DENY");
    expect(page.headers["cache-control"]).toBe("no-cache");
    expect((await get("/assets/a.js")).headers["cache-control"]).toContain("immutable");
    expect(await get("/", {}, "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  it("takes the next free port, and says when it cannot listen", async () => {
    const { run, server, webFiles } = await viewer();
    const second = await ViewerServer.listen(run, { host: "127.0.0.1", port: server.port, webFiles });
    onTestFinished(() => second.close());
    expect(second.port).toBeGreaterThan(server.port);
    expect(second.url).toBe(`http://127.0.0.1:${second.port}/`);
    await expect(ViewerServer.listen(run, { host: "192.0.2.1", port: 0, webFiles })).rejects.toMatchObject({
      code: "VIEWER_LISTEN",
    });
  });
});

describe("findRunFiles", () => {
  it("takes the newest run below a directory of runs", async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const write = async (name: string, seconds: number) => {
      const file = path.join(directory, "runs", name, "rollouts.jsonl");
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, "");
      await utimes(file, seconds, seconds);
      return file;
    };
    const newest = await write("agent_a/2", 2_000);
    await write("agent_b/1", 1_000);
    expect((await findRunFiles(path.join(directory, "runs"))).rollouts).toBe(newest);
    expect((await findRunFiles(path.join(directory, "runs", "agent_b"))).rollouts).toContain("agent_b");
  });

  it("finds the rollouts in the directory of a run", async () => {
    const { directory, file } = await viewer();
    expect(await findRunFiles(directory)).toMatchObject({
      rollouts: file,
      failures: path.join(directory, "run_failures.jsonl"),
    });
    await writeFile(path.join(directory, "b.jsonl"), "");
    await expect(findRunFiles(directory)).rejects.toThrow(
      "holds several files; name one of: b.jsonl, run.jsonl.",
    );
    await writeFile(path.join(directory, "rollouts.jsonl"), "");
    expect((await findRunFiles(directory)).rollouts).toBe(path.join(directory, "rollouts.jsonl"));
    await expect(findRunFiles(path.join(directory, "web"))).rejects.toMatchObject({
      code: "VIEWER_NO_ROLLOUTS",
    });
    await expect(findRunFiles(path.join(directory, "none"))).rejects.toMatchObject({
      code: "ROLLOUT_FILE_MISSING",
    });
  });
});
