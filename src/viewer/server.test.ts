import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import os from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeBoardRun } from "../../scripts/viewer/board-runs.ts";
import { writeDemoRuns } from "../../scripts/viewer/demo-runs.ts";
import { loads } from "../base/python/json/json-loads.ts";
import { filesOf } from "../records/files/find-runs.ts";
import { packRun } from "../records/packed/pack-run.ts";
import { messageItem, verifyBody } from "../servers/hosting/response-items.ts";
import type {
  CompareAnswer,
  Overview,
  PanelTexts,
  RowAnswer,
  RowsPage,
  RunsAnswer,
  TaskList,
  ViewerStatus,
} from "./api-types.ts";
import { readRequest } from "./query/request.ts";
import { ViewedRun } from "./run/viewed-run.ts";
import { Workspace } from "./run/workspace.ts";
import { ViewerServer } from "./server.ts";
import type { EmbeddedRun } from "./share/embedded.ts";
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

interface Options {
  content?: string;
  failures?: string;
  token?: string;
  readOnly?: boolean;
  given?: (directory: string) => Promise<string[]>;
}

async function viewer(options: Options = {}) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
  const file = path.join(directory, "run.jsonl");
  const failures = options.failures ?? text(FAILURES);
  let given = [file];
  if (options.given) given = await options.given(directory);
  else {
    await writeFile(file, options.content ?? `${text(ROWS)}{broken\n`);
    if (failures) await writeFile(path.join(directory, "run_failures.jsonl"), failures);
  }
  const web = await mkdtemp(path.join(os.tmpdir(), "viewer-web-"));
  await mkdir(path.join(web, "assets"), { recursive: true });
  const page =
    '<!doctype html><html><head><script type="module" src="./assets/a.js"></script></head><body></body></html>';
  await writeFile(path.join(web, "index.html"), page);
  await writeFile(path.join(web, "assets/a.js"), `globalThis.text = "</script>$&";//${"x".repeat(5000)}`);
  const webFiles = await loadWebFiles(web);
  const workspace = await Workspace.open(given);
  const { readOnly = false, token } = options;
  const listening = { workspace, webFiles, readOnly, token, host: "127.0.0.1", port: 0 };
  const server = await ViewerServer.listen(listening);
  onTestFinished(async () => {
    await server.close();
    await workspace.close();
    await rm(directory, { recursive: true });
    await rm(web, { recursive: true });
  });
  const ask = (address: string, headers: Record<string, string> = {}, method = "GET", body?: string) =>
    new Promise<{ status: number; body: string; bytes: Buffer; headers: Record<string, unknown> }>(
      (resolve, reject) => {
        // The address is sent unchanged; other clients would normalize `/../`.
        const sent = request(
          { host: "127.0.0.1", port: server.port, path: address, headers, method },
          (answer) => {
            const chunks: Buffer[] = [];
            answer.on("data", (chunk: Buffer) => chunks.push(chunk));
            answer.on("end", () => {
              const bytes = Buffer.concat(chunks);
              resolve({
                status: answer.statusCode ?? 0,
                body: bytes.toString(),
                bytes,
                headers: answer.headers,
              });
            });
          },
        );
        sent.on("error", reject).end(body);
      },
    );
  const api = async <T>(address: string) => {
    const { status, body } = await ask(`/api/${address}`);
    expect({ status, body: status === 200 ? "" : body }).toEqual({ status: 200, body: "" });
    return JSON.parse(body) as T;
  };
  const post = (address: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(`/api/${address}`, { "content-type": "application/json", ...headers }, "POST", JSON.stringify(body));
  const run = workspace.size === 1 ? await workspace.readRun(null) : undefined;
  return { directory, file, run, workspace, server, listening, ask, api, post };
}

const places = ({ rows }: RowsPage) => rows.map(({ source, line }) => `${source[0]}${line}`).join(" ");
const q = (query: string) => `q=${encodeURIComponent(query)}`;

describe("the viewer's API", () => {
  it("reports the status of the files", async () => {
    const { api, file } = await viewer();
    const status = await api<ViewerStatus>("status");
    expect((await api<RunsAnswer>("runs")).runs).toMatchObject([
      { id: "run", coverage: { expected: 6, ok: 4, masked: 1, failed: 1, missing: 0 } },
    ]);
    expect(status).toMatchObject({
      run: { id: "run", state: "done" },
      rollouts: { name: "run.jsonl", path: file, rows: 6, torn_line: null, exists: true },
      failures: { rows: 2 },
      indexing: false,
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
    expect(page.rows[0]).toMatchObject({
      source: "rollouts",
      line: 1,
      readable: true,
      task: 1,
      rollout: 0,
      reward: 1,
      agent: "solver",
      failure: null,
      masked: false,
      prompt: "question 1",
      answer: "Grüße",
      turns: 1,
      tools: [],
    });
    expect(page.rows[5]).toMatchObject({ readable: false, prompt: expect.stringContaining("not JSON") });
    // A failed attempt has no reward.
    expect(page.rows[6]).toMatchObject({ failure: "timeout", lost: true, reward: null });
    expect(page.rows[7]).toMatchObject({ failure: "judge_failed", lost: false });
    expect(places(await api("rollouts?sort=task"))).toBe("r2 f2 r4 r1 f1 r3 r5 r6");
    expect(places(await api("rollouts?sort=reward&order=desc"))).toBe("r1 r4 r5 r3 r2 r6 f1 f2");
    expect(places(await api("rollouts?sort=reward"))).toBe("r2 r3 r1 r4 r5 r6 f1 f2");
    expect(places(await api("rollouts?order=desc&offset=1&limit=3"))).toBe("f1 r6 r5");
    expect(await api("rollouts?sort=task&limit=0&locate=rollouts:3")).toMatchObject({ rows: [], located: 5 });
    expect(await api(`rollouts?${q("is:failed")}&limit=0&locate=rollouts:3`)).toMatchObject({
      located: null,
    });
  });

  it("filters by queries", async () => {
    const { api } = await viewer();
    const found = async (query: string) => {
      // A text search answers with what it has found so far if it takes long.
      for (;;) {
        const page = await api<RowsPage>(`rollouts?${q(query)}`);
        if (page.complete) return places(page);
      }
    };
    expect(await found("reward>=0.5")).toBe("r1 r3 r4 r5");
    expect(await found("reward>0.1 reward<0.9")).toBe("r3");
    expect(await found("agent:other")).toBe("r3 r5");
    expect(await found("agent:nobody")).toBe("");
    expect(await found("is:failed")).toBe("f1 f2");
    // Rollout 0-0 completed after its failure.
    expect(await found("is:lost")).toBe("f1");
    expect(await found("is:failed -is:lost")).toBe("f2");
    expect(await found("is:completed")).toBe("r1 r2 r3 r4 r5");
    expect(await found("is:masked")).toBe("r5 f1 f2");
    expect(await found("is:bad")).toBe("r6");
    expect(await found("is:passed")).toBe("r1 r4");
    expect(await found("is:partial")).toBe("r3");
    expect(await found("error:timeout")).toBe("f1");
    expect(await found("task=0")).toBe("r2 r4 f2");
    expect(await found("grüßE")).toBe("r1 r4 r5");
    expect(await found("-grüßE is:completed")).toBe("r2 r3");
    expect(await found("timeout is:failed")).toBe("f1");
    expect(await found("attempt<1")).toBe("");
    expect(await found("attempt=1 is:completed")).toBe("r1 r2 r3 r4 r5");
  });

  it("finds the lost rollouts that the overview counts as failed", async () => {
    const unnamed = { ...failed(0, 0, "timeout"), _ng_task_index: undefined };
    const rows = [failed(1, 1, "timeout"), failed(1, 1, "timeout"), failed(0, 0, "timeout"), unnamed];
    const { api } = await viewer({
      content: text([...ROWS, failed(4, 0, "timeout"), failed(4, 0, "timeout")]),
      failures: text(rows),
    });
    expect(places(await api(`rollouts?${q("is:lost")}`))).toBe("r7 f2 f4");
    expect((await api<Overview>("overview")).coverage.failed).toBe(3);
  });

  it("rejects invalid requests", async () => {
    const { ask } = await viewer();
    for (const [address, status, message] of [
      ["/api/rollouts?limit=501", 400, "limit"],
      ["/api/rollouts?limit=0x1", 400, "limit"],
      ["/api/rollouts?offset=-1", 400, "offset"],
      ["/api/rollouts?sort=sideways", 400, "sort"],
      ["/api/rollouts?pass=much", 400, "pass"],
      ["/api/rollouts?q=rewrd%3C1", 400, "Did you mean 'reward'?"],
      ["/api/rollouts?__proto__=1", 400, "no parameter '__proto__'"],
      ["/api/status?verbose=1", 400, "no parameter 'verbose'"],
      ["/api/row?line=1&to=2", 400, "no parameter 'to'; /api/row has run, source, line, generation"],
      ["/api/part?line=1&form=2&to=3", 400, "no parameter 'form'"],
      ["/api/runs?q=x", 400, "no parameter 'q'"],
      ["/api/live?lines=3", 400, "no parameter 'lines'"],
      ["/api/events?since=3", 400, "no parameter 'since'"],
      ["/api/statistics?q=x", 400, "no parameter 'q'"],
      ["/api/share?row=rollouts:1", 400, "no parameter 'row'"],
      ["/api/logs?lines=3", 400, "no parameter 'lines'"],
      ["/api/compare?run=run&runs=run&by=task", 400, "no parameter 'by'"],
      ["/api/row?line=0", 400, "line"],
      ["/api/row?line=0x1", 400, "line"],
      ["/api/row?source=secrets&line=1", 400, "source"],
      ["/api/row?line=99", 404, "run.jsonl has no line 99"],
      ["/api/status?run=other", 404, "no run 'other'"],
      ["/api/tasks?set=flipped", 400, "against"],
      ["/api/compare?runs=run", 400, "at least two"],
      ["/api/compare?runs=%25", 400, "URI malformed"],
      ["/api/logs?name=..%2f..%2fsecret.log", 404, "no log"],
      ["/api/nothing", 404, "/api/nothing"],
      ["/api/constructor", 404, ""],
      ["/../run.jsonl", 404, ""],
      ["/assets/..%2f..%2frun.jsonl", 404, ""],
      ["//evil.example/", 404, ""],
    ] as const) {
      const answer = await ask(address);
      expect([address, answer.status, answer.body.slice(0, 80)]).toEqual([
        address,
        status,
        expect.anything(),
      ]);
      // Without logs no name is valid.
      if (answer.status !== 200) expect(JSON.parse(answer.body).error).toContain(message);
    }
    expect((await ask("/", {}, "PUT")).status).toBe(405);
    expect((await ask("/", { host: "evil.example" })).status).toBe(403);
    expect((await ask("/api/status", { host: "localhost", "sec-fetch-site": "cross-site" })).status).toBe(
      403,
    );
  });

  it("documents every address", async () => {
    const source = await readFile(path.join(import.meta.dirname, "api.ts"), "utf8");
    const addresses = [...source.matchAll(/^ {2}"(\/api\/\w+)":/gm)].map(([, address = ""]) => address);
    expect(addresses.length).toBeGreaterThan(12);
    const page = await readFile(path.join(import.meta.dirname, "../../docs/reference/viewer-api.md"), "utf8");
    expect(addresses.filter((address) => !page.includes(`| \`${address}\` |`))).toEqual([]);
  });

  it("returns a row unchanged", async () => {
    const { ask, api } = await viewer({
      content: `{"reward": 1.0,  "big":12345678901234567890,"nan":NaN}\n{"a`,
    });
    const { body } = await ask("/api/row?line=1");
    expect(body).toContain('"row":{"reward": 1.0,  "big":12345678901234567890,"nan":NaN}}');
    expect(body).toContain("Field required");
    const { api: broken, file } = await viewer({ content: "{broken\n" });
    expect(await broken<RowAnswer>("row?line=1")).toMatchObject({
      row: null,
      raw: "{broken",
      path: file,
      problems: [{ message: expect.stringContaining("not JSON") }],
    });
    expect(await api<ViewerStatus>("status")).toMatchObject({ rollouts: { rows: 1, torn_line: 2 } });
  });

  it("replaces branches that are nested too deep, and sends the rest of the row", async () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const deep = `{"reward":1,"fine":${nested(999)},"text":"[\\"{","a":{"b":${nested(2000)},"c":2},"d":3}`;
    const long = `{"log":"${"z".repeat(3_000_000)}","deep":${nested(2000)},"reward":0}`;
    const { ask } = await viewer({ content: `${deep}\n${long}\n`, failures: "" });
    const answer = async (line: number) =>
      loads((await ask(`/api/row?line=${line}`)).body, { maxDepth: 1001 }) as RowAnswer;
    const first = await answer(1);
    expect(first).toMatchObject({
      readable: true,
      too_deep: ["a"],
      row: { reward: 1, text: '[\\"{'.replace("\\", ""), a: { c: 2 }, d: 3 },
    });
    const { fine, a } = first.row as { fine: unknown; a: { b: unknown } };
    expect(JSON.stringify(fine)).toBe(nested(999));
    expect(JSON.stringify(a.b)).toBe(`${"[".repeat(998)}null${"]".repeat(998)}`);
    expect(await answer(2)).toMatchObject({
      too_deep: ["deep"],
      elided: [{ path: ["log"] }],
      row: { reward: 0 },
    });
  });

  it("opens a truncated row of 100 MB, and returns its parts", async () => {
    const long = { ...row(0, 0, 1), log: "z".repeat(100 * 1024 * 1024), ids: [1, 2, 3] };
    const { ask, api } = await viewer({ content: text([long, row(0, 1, 0)]) });
    const { status, bytes } = await ask("/api/row?line=1");
    expect(status).toBe(200);
    expect(bytes.length).toBeLessThan(200_000);
    const answer = JSON.parse(bytes.toString()) as RowAnswer;
    expect(answer).toMatchObject({
      elided: [{ path: ["log"], kind: "string" }],
      row: { reward: 1, ids: [1, 2, 3] },
    });
    const [{ from } = { from: 0 }] = answer.elided;
    const part = await ask(`/api/part?line=1&from=${from}&to=${from + 5}`);
    expect(part.body).toBe('"zzzz');
    expect(part.headers["content-type"]).toBe("text/plain; charset=utf-8");
    const whole = await ask(`/api/part?line=2&from=0&to=100000`);
    expect(whole.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect((await ask(`/api/part?line=1&from=0&to=99999999`)).status).toBe(413);
    expect(await api<Overview>("overview")).toMatchObject({ rewarded: 2, reward: { value: 0.5 } });
  });

  it("sums up rewards and tasks; failed and masked rows do not count", async () => {
    const { api } = await viewer();
    const overview = await api<Overview>("overview");
    expect(overview).toMatchObject({
      complete: true,
      rewarded: 4,
      reward: { value: 0.625 },
      passed: 2,
      pass_threshold: 1,
      // Rollout 0-0 failed and then completed; 1-1 never did.
      coverage: { expected: 6, ok: 4, masked: 1, failed: 1 },
      failures: [
        { class: "timeout", attempts: 1, lost: 1 },
        { class: "judge_failed", attempts: 1, lost: 0 },
      ],
    });
    expect(
      overview.rewards?.bins.filter(({ count }) => count > 0).map(({ from, count }) => [from, count]),
    ).toEqual([
      [0, 1],
      [0.5, 1],
      [expect.closeTo(0.9), 2],
    ]);
    expect((await api<Overview>("overview?pass=0.5")).passed).toBe(3);
    const { tasks, counts } = await api<TaskList>("tasks");
    expect(counts).toEqual({ all: 3, mixed: 1, always_fail: 1, always_pass: 1, errored: 1, flipped: 0 });
    expect(
      tasks.map(({ task, mean, cells }) => [task, mean, cells.map(({ state }) => state).join(" ")]),
    ).toEqual([
      [0, 0.5, "zero pass"],
      [1, 1, "pass failed"],
      [2, 0.5, "part masked"],
    ]);
    expect(tasks[0]?.cells[0]).toMatchObject({ attempt: 1 });
    expect(await api<TaskList>("tasks?by=mean&order=desc&limit=1")).toMatchObject({
      total: 3,
      tasks: [{ task: 1 }],
    });
    expect((await api<TaskList>("tasks?set=mixed")).tasks.map(({ task }) => task)).toEqual([0]);
  });

  it("counts rollouts in flight only while the run is in progress", async () => {
    const { api, directory, file } = await viewer();
    const progress = (updated: number) =>
      writeFile(
        path.join(directory, "run_progress.json"),
        JSON.stringify({ updated_at: new Date(updated).toISOString(), total: 9, done: 6, in_flight: 3 }),
      );
    const asked = async () => [
      (await api<ViewerStatus>("status")).run.state,
      (await api<Overview>("overview")).coverage.running,
    ];
    await writeFile(`${file}.lock`, "");
    await progress(Date.now());
    expect(await asked()).toEqual(["running", 3]);
    // After a kill, the lock and the last progress file remain, and no row is added.
    await progress(Date.now() - 3_600_000);
    expect(await asked()).toEqual(["stopped", 0]);
    await progress(Date.now());
    await rm(`${file}.lock`);
    expect(await asked()).toEqual(["stopped", 0]);
  });

  it("counts a rollout as failed only after the collection gave it up", async () => {
    // 1-1 and 3-0 have only failed attempts; 1-0 has rows of two agents.
    const content = text([...ROWS, row(1, 0, 1, { agent_ref: { name: "other" } })]);
    const { api, directory, file } = await viewer({
      content,
      failures: text([...FAILURES, failed(3, 0, "timeout")]),
    });
    const asked = async () => {
      const [entry] = (await api<RunsAnswer>("runs")).runs;
      const { coverage, tasks } = await api<Overview>("overview");
      expect(coverage).toMatchObject(entry?.coverage ?? {});
      expect(entry?.reward?.tasks).toBe(tasks);
      const { ok, masked, failed: lost, missing, running } = coverage;
      return { ok, masked, failed: lost, missing, running };
    };
    expect(await asked()).toEqual({ ok: 4, masked: 1, failed: 2, missing: 0, running: 0 });
    const about = { total: 9, done: 6, completed: 5, failed: 1, retrying: 1, in_flight: 2, mean_reward: 0.5 };
    await writeFile(`${file}.lock`, "");
    await writeFile(
      path.join(directory, "run_progress.json"),
      JSON.stringify({ updated_at: new Date().toISOString(), ...about }),
    );
    expect(await asked()).toEqual({ ok: 4, masked: 1, failed: 1, missing: 1, running: 2 });
    // A run that is not open, with the statistics of an earlier session.
    const old = { coverage: { failed: 9 }, agents: [{ agent_ref: { name: "a" }, reward: { tasks: 9 } }] };
    await writeFile(path.join(directory, "run_statistics.json"), JSON.stringify(old));
    const closed = await Workspace.open([file]);
    onTestFinished(() => closed.close());
    expect((await closed.list()).runs[0]).toMatchObject({
      coverage: { ok: 5, failed: 1, missing: 3 },
      reward: { value: 0.5, tasks: null },
    });
  });

  it("does not list rollouts that a running collection retries as lost", async () => {
    const attempt = (task: number, index: number, name: string, retryable: boolean) => ({
      ...failed(task, 0, name),
      _ng_attempt_index: index,
      _ng_failure: { class: name, stage: "run", retryable, message: "" },
    });
    // Of an earlier session: 10 used up its attempts, and 12 cannot succeed. 11 and 13 run again, 13 although it has
    // more failed attempts than 12, because failures of the endpoint do not count.
    const earlier = [
      attempt(10, 0, "judge_failed", true),
      attempt(10, 1, "judge_failed", true),
      attempt(10, 2, "judge_failed", true),
      attempt(11, 0, "agent_error", false),
      { ...attempt(12, 0, "agent_error", false), _ng_failure_terminal: true },
      attempt(13, 0, "connection", true),
      attempt(13, 1, "connection", true),
      attempt(13, 2, "connection", true),
    ];
    const session = [
      attempt(20, 0, "timeout", true),
      attempt(21, 0, "agent_error", false),
      attempt(22, 0, "timeout", true),
      attempt(22, 1, "timeout", true),
      attempt(23, 0, "timeout", true),
      attempt(23, 1, "timeout", true),
      attempt(23, 2, "timeout", true),
    ];
    const { api, directory, file } = await viewer({ failures: text([...earlier, ...session]) });
    const lost = async () => {
      const { coverage, failures } = await api<Overview>("overview");
      const page = await api<RowsPage>(`rollouts?${q("is:lost")}`);
      expect(page.rows.every((each) => each.lost)).toBe(true);
      expect(failures.reduce((sum, each) => sum + each.lost, 0)).toBe(page.total);
      expect(coverage.failed).toBe(page.total);
      return page.rows.map(({ task }) => task);
    };
    const progress = (about: object) =>
      writeFile(
        path.join(directory, "run_progress.json"),
        JSON.stringify({ updated_at: new Date().toISOString(), total: 20, in_flight: 3, ...about }),
      );
    const everything = [10, 11, 12, 13, 20, 21, 22, 23];
    expect(await lost()).toEqual(everything);
    await writeFile(`${file}.lock`, "");
    const failures_by_class = { timeout: 6, agent_error: 1 };
    await progress({ done: 9, failed: 4, failed_before: 2, failures_by_class });
    expect(await lost()).toEqual([10, 12, 21, 23]);
    await progress({ done: 8, failed: 3, failed_before: 2, failures_by_class });
    expect(await lost()).toEqual([10, 12, 21]);
    // With --retry-failed all earlier rollouts run again.
    await progress({ done: 7, failed: 2, failed_before: 0, failures_by_class });
    expect(await lost()).toEqual([21, 23]);
    await rm(`${file}.lock`);
    expect(await lost()).toEqual(everything);
  });

  it("marks the row that the address of a task and repeat opens", async () => {
    const timed = { _ng_timing: { seconds: 1 } };
    const content = text([
      row(0, 0, 0, timed),
      row(0, 0, 1, timed),
      row(0, 1, 1),
      row(1, 0, 1, { mask_sample: true }),
    ]);
    const { api } = await viewer({ content, failures: text([failed(0, 0, "timeout")]) });
    const { rows } = await api<RowsPage>("rollouts");
    expect(rows.map(({ addressed }) => addressed)).toEqual([true, false, true, true, false]);
    const { tasks } = await api<TaskList>("tasks");
    const cells = tasks[0]?.cells.map(({ line, rollout, reward, addressed }) => [
      line,
      rollout,
      reward,
      addressed,
    ]);
    // Each row has a cell, so that each can be opened.
    expect(cells).toEqual([
      [1, 0, 0, true],
      [2, 0, 1, false],
      [3, 1, 1, true],
    ]);
    const { slowest } = await api<Overview>("overview");
    expect(slowest.map(({ line, addressed }) => [line, addressed]).sort()).toEqual([
      [1, true],
      [2, false],
    ]);
  });

  it("counts the matches so far during a search, and all matches after it", async () => {
    // The file has several blocks. Reading stops after the first one until `goOn` is called.
    const rows = Array.from({ length: 12 }, (_, task) =>
      row(task, 0, task % 2, { log: "z".repeat(1024 * 1024), note: task % 3 === 0 ? "needle" : "" }),
    );
    const { api, run } = await viewer({ content: text(rows), failures: "" });
    const file = run?.rollouts;
    if (file === undefined) throw new Error("The run is not open.");
    let goOn = () => {};
    const disk = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const blocks = file.blocks.bind(file);
    file.blocks = async function* (from, signal) {
      for await (const block of blocks(from, signal)) {
        yield block;
        await disk;
      }
    };
    const overview = () => api<Overview>("overview?q=needle");
    const tasks = () => api<TaskList>("tasks?q=needle");
    const [before, grid] = await Promise.all([overview(), tasks()]);
    for (const { search } of [before, grid]) expect(search).toMatchObject({ done: false, rows: 12 });
    expect(before.complete).toBe(false);
    expect(before.rewarded).toBeLessThan(4);
    expect(grid.total).toBeLessThan(4);
    goOn();
    await expect.poll(async () => (await overview()).complete, { timeout: 10_000 }).toBe(true);
    expect(await overview()).toMatchObject({ rewarded: 4, reward: { value: 0.5 }, search: { done: true } });
    expect(await tasks()).toMatchObject({ total: 4, search: { done: true } });
    expect((await tasks()).tasks.map(({ task }) => task)).toEqual([0, 3, 6, 9]);
  });

  it("returns the statistics and the metrics files of the run", async () => {
    const { api, directory } = await viewer({ content: text(ROWS) });
    await writeFile(path.join(directory, "run_aggregate_metrics.json"), "[1]");
    const { dataset, files } = await api<PanelTexts>("statistics");
    expect(JSON.parse(dataset)).toMatchObject({ "Number of examples": 5 });
    expect(dataset).toContain('"Average": 0.7');
    expect(files).toEqual([{ name: "run_aggregate_metrics.json", text: "[1]" }]);
  });

  it("follows the run within a second", async () => {
    const { api, file } = await viewer({ content: text(ROWS.slice(0, 2)), failures: "" });
    const before = await api<RowsPage>("rollouts?q=question");
    expect(before).toMatchObject({ total: 2, search: { done: true } });
    await appendFile(file, text(ROWS.slice(2)));
    await expect
      .poll(async () => (await api<RowsPage>("rollouts?q=question")).total, { timeout: 5000 })
      .toBe(5);
    expect((await api<ViewerStatus>("status")).version).toBeGreaterThan(before.version);
  });

  it("reports a row whose file was replaced", async () => {
    const { ask, api, run, file } = await viewer({ content: text(ROWS.slice(0, 3)), failures: "" });
    const { generation } = await api<ViewerStatus>("status");
    const asked = async () =>
      JSON.parse((await ask(`/api/row?line=1&generation=${generation}`)).body) as object;
    expect(await asked()).toMatchObject({ line: 1, readable: true });
    await writeFile(file, text(ROWS.toReversed()));
    expect(await asked()).toEqual({ source: "rollouts", line: 1, changed: true });
    await run?.update();
    expect(await asked()).toEqual({ source: "rollouts", line: 1, changed: true });
    expect((await ask("/api/row?line=1&generation=-1")).status).toBe(400);
  });

  it("never fails while the file is replaced repeatedly", async () => {
    const { ask, file } = await viewer({ content: text(ROWS), failures: "" });
    const big = text(Array.from({ length: 400 }, () => ROWS).flat());
    let writing = true;
    const statuses = new Set<number>();
    const asking = ["row?line=1", "rollouts?q=question", "overview", "tasks"].map(async (address) => {
      while (writing) {
        const { status, body } = await ask(`/api/${address}`);
        JSON.parse(body);
        statuses.add(status);
      }
    });
    for (let time = 0; time < 40; time++) await writeFile(file, time % 2 === 0 ? text([ROWS[1]]) : big);
    writing = false;
    await Promise.all(asking);
    // 404: the line does not exist at that moment; 409: the request must be repeated.
    for (const status of statuses) expect([200, 404, 409]).toContain(status);
  });

  it("sends its pages compressed, with restrictive security headers", async () => {
    const { ask } = await viewer();
    const page = await ask("/");
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining("<!doctype html>") });
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
    expect(page.headers["content-security-policy"]).not.toContain("unsafe");
    expect(page.headers["x-frame-options"]).toBe("DENY");
    expect(page.headers["cache-control"]).toBe("no-cache");
    const script = await ask("/assets/a.js", { "accept-encoding": "gzip, br" });
    expect(script.headers).toMatchObject({
      "content-encoding": "gzip",
      "cache-control": expect.stringContaining("immutable"),
    });
    expect(gunzipSync(script.bytes).toString()).toContain("globalThis.text");
    const rows = await ask("/api/rollouts", { "accept-encoding": "gzip" });
    expect(rows.headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(rows.bytes).toString())).toMatchObject({ total: 8 });
    expect(await ask("/", {}, "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  it("uses the next free port, and reports when it cannot listen", async () => {
    const { server, listening } = await viewer();
    const second = await ViewerServer.listen({ ...listening, port: server.port });
    onTestFinished(() => second.close());
    expect(second.port).toBeGreaterThan(server.port);
    await expect(ViewerServer.listen({ ...listening, host: "192.0.2.1" })).rejects.toMatchObject({
      code: "VIEWER_LISTEN",
    });
  });
});

describe("access", () => {
  it("requires the token in the address, in a cookie or as a bearer token", async () => {
    const { ask, server } = await viewer({ token: "a-token" });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/?token=a-token`);
    expect(await ask("/api/status")).toMatchObject({ status: 401 });
    expect(await ask("/api/status?token=b-token")).toMatchObject({ status: 401 });
    expect(await ask("/api/rollouts?token=a-token")).toMatchObject({ status: 200 });
    expect((await ask("/")).headers["set-cookie"]).toBeUndefined();
    const [cookie = ""] = (await ask("/?token=a-token")).headers["set-cookie"] as string[];
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/);
    expect(await ask("/api/status", { cookie: `x=1; ${cookie.split(";")[0]}` })).toMatchObject({
      status: 200,
    });
    expect(await ask("/api/status", { cookie: `${cookie.split("=")[0]}=wrong` })).toMatchObject({
      status: 401,
    });
    expect(await ask("/api/status", { authorization: "Bearer a-token" })).toMatchObject({ status: 200 });
  });

  it("rejects changes by other sites, by forms and with --read-only", async () => {
    const { post, ask, directory } = await viewer({ token: "a-token" });
    const note = { task: 0, rollout: 0, labels: [], note: "x", exclude: false };
    expect((await post("annotate", note)).status).toBe(401);
    const token = { authorization: "Bearer a-token" };
    expect((await post("annotate", note, { ...token, origin: "http://evil.example" })).status).toBe(403);
    expect((await post("annotate", note, { ...token, "sec-fetch-site": "same-site" })).status).toBe(403);
    const form = { ...token, "content-type": "text/plain" };
    expect((await ask("/api/annotate", form, "POST", JSON.stringify(note))).status).toBe(415);
    expect((await post("annotate", { ...note, note: "x".repeat(70_000) }, token)).status).toBe(413);
    expect((await post("status", note, token)).status).toBe(405);
    await expect(readFile(path.join(directory, "run_annotations.jsonl"))).rejects.toThrow();
    const { post: reading } = await viewer({ readOnly: true });
    expect((await reading("annotate", note)).status).toBe(403);
  });
});

describe("annotations", () => {
  it("are stored next to the rollouts, and can be queried", async () => {
    const { post, api, directory } = await viewer();
    const note = (rollout: number, more: object) =>
      post("annotate", { task: 0, rollout, labels: [], note: "", exclude: false, ...more });
    expect((await note(0, { labels: ["wrong tool", "wrong tool"], exclude: true })).status).toBe(200);
    expect((await note(1, { note: "fine" })).status).toBe(200);
    expect((await note(1, { labels: [""] })).status).toBe(400);
    expect(await note(9, {})).toMatchObject({
      status: 404,
      body: expect.stringContaining("The run has no rollout 0-9"),
    });
    const found = async (query: string) => places(await api<RowsPage>(`rollouts?${q(query)}`));
    expect(await found('label:"wrong tool"')).toBe("r2 f2");
    expect(await found("is:annotated is:completed")).toBe("r2 r4");
    expect(await found("is:excluded is:completed")).toBe("r2");
    expect((await api<ViewerStatus>("status")).labels).toEqual(["wrong tool"]);
    expect(await api<RowAnswer>("row?line=4")).toMatchObject({ annotation: { note: "fine" } });
    await note(1, {});
    expect(await found("is:annotated is:completed")).toBe("r2");
    const lines = (await readFile(path.join(directory, "run_annotations.jsonl"), "utf8")).trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      _ng_task_index: 0,
      _ng_rollout_index: 0,
      exclude: true,
    });
  });

  it("go on after a line that a killed program left incomplete", async () => {
    const { post, api, directory } = await viewer();
    const file = path.join(directory, "run_annotations.jsonl");
    const whole = { _ng_task_index: 0, _ng_rollout_index: 0, labels: ["first"] };
    await writeFile(file, `${JSON.stringify(whole)}\n{"_ng_task_index": 0, "lab`);
    const note = { task: 0, rollout: 1, labels: ["second"], note: "", exclude: false };
    expect((await post("annotate", note)).status).toBe(200);
    expect((await api<ViewerStatus>("status")).labels).toEqual(["first", "second"]);
    expect(
      (await readFile(file, "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toHaveLength(2);
  });
});

describe("several runs", () => {
  const demo = (directory: string) => writeDemoRuns(directory).then(() => [directory]);

  it("are listed newest first, with the figures of their files", async () => {
    const { api, workspace, directory } = await viewer({ given: demo });
    const { runs, single } = await api<RunsAnswer>("runs");
    expect(single).toBe(false);
    expect(runs.map(({ id, environment, model, state }) => [id, environment, model, state])).toEqual([
      ["repair/large-model", "repair", "large-70b", "done"],
      ["repair/small-model", "repair", "small-4b", "done"],
    ]);
    // An open run has the same figures, counted from its rows.
    const before = runs[0];
    await workspace.readRun("repair/large-model");
    const [after] = (await api<RunsAnswer>("runs")).runs;
    expect(after).toMatchObject({
      reward: { value: expect.closeTo(before?.reward?.value ?? 0, 12) },
      coverage: before?.coverage,
    });
    const statistics = JSON.parse(
      await readFile(path.join(directory, "repair/large-model/rollouts_statistics.json"), "utf8"),
    ) as { coverage: object; agents: { reward: object; pass: object[]; tasks: number }[] };
    const overview = await api<Overview>("overview?run=repair%2Flarge-model");
    expect(overview.coverage).toMatchObject(statistics.coverage);
    expect(overview.reward).toEqual(statistics.agents[0]?.reward);
    expect(overview.pass).toEqual(statistics.agents[0]?.pass);
    expect(overview.groups[0]?.reward).toEqual(statistics.agents[0]?.reward);
  });

  const twoRuns = async (directory: string) => {
    for (const name of ["a", "b"]) {
      await mkdir(path.join(directory, name));
      await writeFile(path.join(directory, name, "rollouts.jsonl"), text(ROWS));
    }
    return [directory];
  };

  it.each([
    ["status?run=a", { run: { state: "done" }, rollouts: { exists: true } }],
    ["rollouts?run=a&q=question", { total: 5, complete: true, search: { done: true } }],
    ["tasks?run=a", { total: 3, complete: true }],
    ["row?run=a&line=5", { line: 5, readable: true }],
  ])("are looked at before the first answer to %s", async (address, expected) => {
    const { api } = await viewer({ given: twoRuns });
    expect(await api(address)).toMatchObject(expected);
  });

  it("report incomplete answers, and wait for rows", async () => {
    const { directory } = await viewer({ given: twoRuns });
    const run = new ViewedRun("a", filesOf(path.join(directory, "a/rollouts.jsonl")));
    onTestFinished(() => run.close());
    const request = readRequest(new URLSearchParams({ q: "question" }));
    expect(await run.page(request)).toMatchObject({ total: 0, complete: false, search: { done: false } });
    expect(await run.tasks(request, undefined)).toMatchObject({ total: 0, complete: false });
    const rowText = run.rows.text({ source: "rollouts", line: 5 });
    const missing = expect(run.rows.text({ source: "failures", line: 1 })).rejects.toThrow("no line 1");
    run.start();
    expect(JSON.parse(await rowText)).toMatchObject({ line: 5 });
    await missing;
    expect(await run.page(request)).toMatchObject({ total: 5, complete: true, search: { done: true } });
  });

  it("are joined by task", async () => {
    const { api } = await viewer({ given: demo });
    const runs = "runs=repair%252Fsmall-model,repair%252Flarge-model";
    const comparison = await api<CompareAnswer>(`compare?${runs}`);
    expect(comparison.pairs[0]).toMatchObject({
      common: 24,
      matched_by: "index",
      matched_content: "inputs",
      problem: null,
    });
    const { wins, losses, ties } = comparison.pairs[0] ?? { wins: 0, losses: 0, ties: 0 };
    expect(wins + losses + ties).toBe(24);
    expect(comparison.config.map(({ path: key }) => key)).toEqual([
      "servers.policy_model.openai_model",
      "servers.policy_model.temperature",
    ]);
    const regressed = await api<CompareAnswer>(`compare?${runs}&change=regressed`);
    expect(regressed.total).toBe(losses);
    expect(regressed.tasks.every(({ change }) => change === "regressed")).toBe(true);
    const flipped = await api<TaskList>(
      "tasks?run=repair%2Flarge-model&set=flipped&against=repair%2Fsmall-model",
    );
    expect(flipped.tasks.length).toBeGreaterThan(0);
    for (const { mean, other } of flipped.tasks) expect((mean ?? 0) >= 0.5).not.toBe((other ?? 0) >= 0.5);
  });

  it("list the tasks that only one run has", async () => {
    const { api } = await viewer({
      given: async (directory) => {
        const runs = { a: [row(0, 0, 1), row(1, 0, 0)], b: [row(1, 0, 1), row(2, 0, 1)] };
        for (const [name, rows] of Object.entries(runs)) {
          await mkdir(path.join(directory, name));
          await writeFile(path.join(directory, name, "rollouts.jsonl"), text(rows));
        }
        return [directory];
      },
    });
    const comparison = await api<CompareAnswer>("compare?runs=a,b");
    expect(comparison).toMatchObject({
      total: 3,
      changes: { improved: 1, missing: 2 },
      pairs: [{ common: 1, only_before: 1, only_after: 1 }],
    });
    expect(comparison.tasks.map(({ indices, means }) => [indices, means])).toEqual([
      [
        [1, 1],
        [0, 1],
      ],
      [
        [0, null],
        [1, null],
      ],
      [
        [null, 2],
        [null, 1],
      ],
    ]);
    expect(comparison.tasks[2]?.prompt).toContain("question 2");
  });

  it("are compared if a first row has values that are not finite", async () => {
    const content = text([row(0, 0, 1), row(1, 0, 0)]).replace('"reward":1', '"score":NaN,"reward":1');
    const { api } = await viewer({
      given: async (directory) => {
        for (const name of ["a", "b"]) {
          await mkdir(path.join(directory, name));
          await writeFile(path.join(directory, name, "rollouts.jsonl"), content);
        }
        return [directory];
      },
    });
    const { runs } = await api<RunsAnswer>("runs");
    const ids = runs.map(({ id }) => encodeURIComponent(id)).join(",");
    const comparison = await api<CompareAnswer>(`compare?runs=${encodeURIComponent(ids)}`);
    expect(comparison).toMatchObject({
      pairs: [{ common: 2, difference: { value: 0 } }],
      prompts: [null, null],
    });
  });

  it("list the logs of a rollout", async () => {
    const { api } = await viewer({ given: demo });
    expect(await api("logs?run=repair%2Flarge-model&rollout=0-0")).toMatchObject({
      name: "repair_tools.log",
      matched: true,
      lines: [expect.stringContaining("0-0"), expect.stringContaining("0-0")],
    });
  });

  it("are read from a packed run without unpacking it", async () => {
    const { api } = await viewer({
      given: async (directory) => {
        const rollouts = await writeBoardRun(path.join(directory, "run"), { rewards: [[1, 0], [1]] });
        const file = path.join(directory, "x.gymrun");
        await packRun(rollouts, file, { gymVersion: "0.1.0" });
        return [file];
      },
    });
    expect(await api("status")).toMatchObject({ can_annotate: false, rollouts: { rows: 3 } });
    expect(await api("runs")).toMatchObject({
      runs: [
        { id: "x.gymrun", environment: "mcqa", model: "model-a", path: expect.stringMatching(/x\.gymrun$/) },
      ],
    });
    expect(await api("row?line=3")).toMatchObject({ readable: true, line: 3 });
    expect(await api("rollouts?q=answer")).toMatchObject({ total: 3 });
  });

  it("reports a directory without runs", async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await expect(Workspace.open([directory])).rejects.toMatchObject({ code: "ROLLOUT_NONE_FOUND" });
    await expect(Workspace.open([path.join(directory, "none")])).rejects.toMatchObject({
      code: "ROLLOUT_FILE_MISSING",
    });
  });
});

describe("a shared page", () => {
  it("contains the number of its rollouts and of those of the run", async () => {
    const { ask } = await viewer();
    const embedded = async (rows: string) => {
      const { body } = await ask(`/api/share?rows=${rows}`);
      const data = /id="embedded-run">(.*?)<\/script>/s.exec(body)?.[1] ?? "";
      return JSON.parse(data) as EmbeddedRun;
    };
    const some = await embedded("rollouts:1,failures:2");
    expect(some).toMatchObject({ chosen: { rows: 2, of: 8 }, overview: { coverage: { expected: 1 } } });
    const all = ["1", "2", "3", "4", "5", "6"].map((line) => `rollouts:${line}`);
    expect((await embedded([...all, "failures:1", "failures:2"].join())).chosen).toBeNull();
  });

  it("has figures of the chosen rollouts only", async () => {
    const timed = ROWS.map((each) => ({ ...each, _ng_timing: { seconds: 1 } }));
    const { ask, directory } = await viewer({ content: text(timed) });
    const about = { spent: 5, elapsed_seconds: 60, model_calls: 99, history: [[0, 0, 1]] };
    const turn_boundaries = { extend: 9, fork: 1, lost: 0 };
    await writeFile(
      path.join(directory, "run_progress.json"),
      JSON.stringify({ total: 6, done: 6, ...about, turn_boundaries }),
    );
    // A rollout with reward 0.5, the lost attempt at 1-1, and an attempt at 0-0, which completed later.
    const { body } = await ask("/api/share?rows=rollouts:3,failures:1,failures:2");
    const data = JSON.parse(/id="embedded-run">(.*?)<\/script>/s.exec(body)?.[1] ?? "") as EmbeddedRun;
    expect(data.overview).toMatchObject({
      coverage: { expected: 2, ok: 1, masked: 0, failed: 1, missing: 0, running: 0 },
      rewarded: 1,
      reward: { value: 0.5 },
      tasks: 1,
      groups: [
        { agent: "other", rollouts: 1, failed: 0 },
        { agent: "solver", rollouts: 0, failed: 2 },
      ],
      totals: { spent: null, elapsed_seconds: null, model_calls: null },
      turn_boundaries: null,
      history: [],
      failures: [
        { class: "timeout", attempts: 1, lost: 1 },
        { class: "judge_failed", attempts: 1, lost: 0 },
      ],
      slowest: [{ line: 3 }],
    });
    expect(data.status).toMatchObject({
      rollouts: { rows: 1, bad_lines: 0 },
      failures: { rows: 2, bad_lines: 0 },
      unreadable: 0,
      agents: ["other", "solver"],
      failure_classes: ["judge_failed", "timeout"],
    });
  });

  it("contains the rollouts and the viewer, and executes no other script", async () => {
    const { ask } = await viewer({
      content: text([row(0, 0, 1, { evil: "</script><script>alert(1)</script>" })]),
      failures: "",
    });
    const { status, body, headers } = await ask("/api/share?rows=rollouts:1");
    expect(status).toBe(200);
    expect(headers["content-disposition"]).toContain('filename="run-rollouts.html"');
    expect(body.match(/<script/g)).toHaveLength(2);
    expect(body).toContain('text = "<\\/script>$&"');
    expect(body).toContain("content-security-policy");
    expect(body).not.toContain("<script>alert");
    expect((await ask("/api/share?rows=rollouts:9")).status).toBe(404);
    expect((await ask("/api/share?rows=x")).status).toBe(400);
  });
});
