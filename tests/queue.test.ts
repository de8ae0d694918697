import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { connectBroker } from "../src/run/queue/broker.ts";
import { renewConsumers } from "../src/run/queue/run-stream.ts";
import { runGym } from "./gym-process.ts";
import { missingBroker, TestBroker } from "./support/broker.ts";
import { freePort } from "./support/free-port.ts";
import { EVALUATION, ROW, rows, sortedLines, startGym, until } from "./support/queue-runs.ts";

const missing = missingBroker();
if (missing !== undefined) console.warn(`Tests of distributed runs are left out: ${missing}.`);

let broker: TestBroker;

const queued = (output: string, ...more: string[]) => [
  ...EVALUATION,
  "-i",
  "rows.jsonl",
  "-o",
  output,
  "--queue",
  broker.url,
  ...more,
];
const worker = (...more: string[]) => ["worker", "--queue", broker.url, ...more];

describe.skipIf(missing !== undefined)("distributed runs", { timeout: 120_000 }, () => {
  beforeEach(async () => {
    broker = new TestBroker(await freePort());
    await broker.start();
  });
  afterEach(() => broker.close());

  it("give the same rows as a run on one machine", async () => {
    const cwd = await rows(200);
    const workers = [1, 2].map(() => startGym(worker("--concurrency", "16"), cwd));
    // Slow enough that a worker cannot finish the run before the other one joins.
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=300";
    const distributed = await runGym(queued("queued.jsonl", "--json", slow), { cwd });
    expect(distributed.exitCode, distributed.stderr).toBe(0);
    const local = await runGym([...EVALUATION, "-i", "rows.jsonl", "-o", "local.jsonl"], { cwd });
    expect(local.exitCode, local.stderr).toBe(0);
    expect(sortedLines(join(cwd, "queued.jsonl"))).toEqual(sortedLines(join(cwd, "local.jsonl")));
    const metrics = (name: string) =>
      JSON.parse(readFileSync(join(cwd, `${name}_aggregate_metrics.json`), "utf8"));
    expect(metrics("queued")).toEqual(metrics("local"));
    const calls = (name: string) =>
      JSON.parse(readFileSync(join(cwd, `${name}_progress.json`), "utf8")).model_calls;
    expect(calls("local")).toBeGreaterThanOrEqual(200);
    expect(calls("queued")).toBe(calls("local"));
    // Nothing of the run remains at the broker.
    const status = await runGym(["queue", "status", "--queue", broker.url, "--json"], { cwd });
    expect(JSON.parse(status.stdout).runs).toEqual([]);
    // The resources of each worker are recorded, and a larger run can be planned from them.
    const used = JSON.parse(readFileSync(join(cwd, "queued_resources.json"), "utf8"));
    expect(used).toMatchObject({ servers: "workers", run: { rollouts: 200 } });
    const figures = Object.values<{ rollouts: number; cpu_seconds: number }>(used.workers);
    expect(figures).toHaveLength(2);
    expect(figures.reduce((sum, { rollouts }) => sum + rollouts, 0)).toBe(200);
    for (const { cpu_seconds } of figures) expect(cpu_seconds).toBeGreaterThan(0);
    const planned = await runGym(
      [
        "scale",
        "plan",
        "--rollouts",
        "queued.jsonl",
        "--in-flight",
        "5000",
        "--rollout-seconds",
        "10",
        "--json",
      ],
      { cwd },
    );
    expect(JSON.parse(planned.stdout).plan).toMatchObject({ in_flight: 5_000, rollouts_per_second: 500 });
    const missing = await runGym(["scale", "plan", "--rollouts", "no.jsonl", "--in-flight", "5"], { cwd });
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no_resources.json") });
    const many = await runGym(["scale", "plan", "--rollouts", "queued.jsonl", "--in-flight", "0"], { cwd });
    expect(many).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("whole number from 1") });
    for (const { child } of workers) child.kill("SIGINT");
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(workers[0]?.text()).toContain("Worker ended (interrupted)");
  });

  it("fail and retry rollouts like a run on one machine", async () => {
    const cwd = await rows(20);
    startGym(worker(), cwd);
    const failing = "++policy_model.responses_api_models.random_model.failure_rate=1";
    const { exitCode, stderr } = await runGym(queued("failed.jsonl", failing), { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("provider_error");
    const failures = sortedLines(join(cwd, "failed_failures.jsonl")).map((line) => JSON.parse(line));
    expect(failures).toHaveLength(60);
    expect(failures.map((row) => row._ng_attempt_index ?? 0).sort()).toEqual([
      ...Array(20).fill(0),
      ...Array(20).fill(1),
      ...Array(20).fill(2),
    ]);
  });

  it("resume on the same broker after the collector was killed", async () => {
    const cwd = await rows(300);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=300";
    startGym(worker("--concurrency", "16"), cwd);
    const first = startGym(queued("resumed.jsonl", slow, "--json"), cwd);
    await until("results", () => (first.text().match(/"event":"rollout"/g) ?? []).length > 40);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = await runGym(queued("resumed.jsonl", slow, "--resume"), { cwd });
    expect(second.exitCode, second.stderr).toBe(0);
    const keys = sortedLines(join(cwd, "resumed.jsonl")).map((line) => JSON.parse(line)._ng_task_index);
    expect(new Set(keys).size).toBe(300);
    expect(keys).toHaveLength(300);
  });

  it("keeps rollouts in a worker that are delivered to it again while it runs them", async () => {
    const cwd = await rows(8);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=5000";
    startGym(worker("--concurrency", "16"), cwd);
    const run = startGym(queued("again.jsonl", slow), cwd);
    const connected = await connectBroker({ url: broker.url }, { name: "test" });
    onTestFinished(() => connected.close());
    const { jsm } = connected;
    const status = async () => {
      const { stdout } = await runGym(["queue", "status", "--queue", broker.url, "--json"], { cwd });
      return JSON.parse(stdout) as { runs: { run: string; leased: number; agents: { name: string }[] }[] };
    };
    await until("leases", async () => (await status()).runs[0]?.leased === 8);
    const [shown] = (await status()).runs;
    if (!shown) throw new Error("the run is over");
    const agents = shown.agents.map(({ name }) => name);
    await renewConsumers(jsm, { run: shown.run, agents, leaseMs: 30_000, maxDeliver: 10 });
    let published = 0;
    const watched = setInterval(() => {
      jsm.streams.info(`gym-${shown.run}`).then(
        ({ state }) => {
          published = state.last_seq;
        },
        () => {},
      );
    }, 100);
    onTestFinished(() => clearInterval(watched));
    expect(await run.ended, run.text()).toBe(0);
    expect(sortedLines(join(cwd, "again.jsonl"))).toHaveLength(8);
    // A reference that is returned is published again.
    expect(published).toBeGreaterThanOrEqual(8);
    expect(published).toBeLessThanOrEqual(16);
  });

  it("report an invalid address, login and run", async () => {
    const cwd = await rows(1);
    const wrong = await runGym(["queue", "status", "--queue", "http://x"], { cwd });
    expect(wrong.stderr).toContain("it looks like nats://host:4222");
    const nobody = await runGym(["queue", "status", "--queue", `nats://127.0.0.1:${await freePort()}`], {
      cwd,
    });
    expect(nobody.stderr).toContain("`gym queue up` starts one");
    const unknown = await runGym(["queue", "purge", "abc", "--queue", broker.url], { cwd });
    expect(unknown.stderr).toContain("The broker has no run 'abc'. Runs: none.");
    const closed = new TestBroker(await freePort(), { words: ["--user", "gym", "--pass", "secret"] });
    await closed.start();
    onTestFinished(() => closed.close());
    const rejected = await runGym(["queue", "status", "--queue", closed.url], { cwd });
    expect(rejected.stderr).toContain("rejected the login");
    const env = { NATS_USER: "gym", NATS_PASSWORD: "secret" };
    const allowed = await runGym(["queue", "status", "--queue", closed.url, "--json"], { cwd, env });
    expect(allowed.exitCode, allowed.stderr).toBe(0);
  });

  it("can be shown, paused, resumed and controlled from any machine", async () => {
    const cwd = await rows(900);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=400";
    const workers = [1, 2].map(() => startGym(worker("--concurrency", "4"), cwd));
    const run = startGym(queued("steered.jsonl", slow, "--json"), cwd);
    const control = async (...words: string[]) => {
      const { exitCode, stdout, stderr } = await runGym(
        ["eval", "ctl", ...words, "--queue", broker.url, "--json"],
        { cwd },
      );
      return exitCode === 0 ? JSON.parse(stdout) : { rejected: stderr };
    };
    await until("results", () => (run.text().match(/"event":"rollout"/g) ?? []).length > 10);
    const shown = await control("show");
    expect(shown).toMatchObject({ ok: true, total: 900, paused: false });
    expect(shown.workers).toHaveLength(2);

    expect(await control("pause")).toMatchObject({ paused: true });
    // Workers notice it within a second and finish their rollouts.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const done = (await control("show")).done;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await control("show")).done).toBe(done);
    expect(await control("resume")).toMatchObject({ paused: false });

    const [first, second] = shown.workers.map((each: { worker: string }) => each.worker);
    expect(await control("concurrency", "5", "--worker", "all")).toMatchObject([
      { concurrency: 5 },
      { concurrency: 5 },
    ]);
    expect(await control("drain", first)).toMatchObject([{ worker: first, state: "draining" }]);
    await until("the drained worker to end", () => workers.some(({ child }) => child.exitCode === 0));
    expect(await control("drain", first)).toEqual({
      rejected: expect.stringContaining(`Workers: ${second}.`),
    });
    expect(await control("cancel", "999-0")).toEqual({
      rejected: expect.stringContaining("no rollout '999-0' is running"),
    });
    // The last one is still waiting.
    expect(await control("cancel", "899-0")).toMatchObject({ ok: true });
    expect(await control("concurrency", "200", "--worker", "all")).toMatchObject([{ concurrency: 200 }]);
    expect(await run.ended, run.text().slice(-3_000)).toBe(0);
    expect(sortedLines(join(cwd, "steered.jsonl")), run.text().slice(-3_000)).toHaveLength(899);
    const resumed = await runGym(queued("steered.jsonl", slow, "--resume"), { cwd });
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    expect(sortedLines(join(cwd, "steered.jsonl"))).toHaveLength(900);
  });

  it("end on Ctrl-C, can be resumed, and leave nothing on the broker", async () => {
    const cwd = await rows(100);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=500";
    startGym(worker("--concurrency", "4"), cwd);
    const run = startGym(queued("stopped.jsonl", slow), cwd);
    await until(
      "results",
      () => existsSync(join(cwd, "stopped.jsonl")) && sortedLines(join(cwd, "stopped.jsonl")).length > 4,
    );
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    expect(run.text()).toContain("--resume");
    const status = await runGym(["queue", "status", "--queue", broker.url, "--json"], { cwd });
    expect(JSON.parse(status.stdout).runs).toEqual([]);
  });

  it("fail a rollout that crashes every worker, and no other", { timeout: 300_000 }, async () => {
    const cwd = await rows(1);
    const app = [
      'import { defineResourcesServer } from "nemo-gym";',
      "export default defineResourcesServer({",
      "  verify: async ({ row }) => {",
      "    if (row.number === 7) process.kill(process.pid, 'SIGKILL');",
      "    return { reward: 1 };",
      "  },",
      "});",
    ];
    await mkdir(join(cwd, "resources_servers/deadly/configs"), { recursive: true });
    await writeFile(join(cwd, "resources_servers/deadly/app.ts"), app.join("\n"));
    await writeFile(
      join(cwd, "resources_servers/deadly/configs/deadly.yaml"),
      JSON.stringify({
        deadly: { resources_servers: { deadly: { entrypoint: "app.ts", domain: "other" } } },
        deadly_agent: {
          responses_api_agents: {
            simple_agent: {
              entrypoint: "app.ts",
              resources_server: { type: "resources_servers", name: "deadly" },
              model_server: { type: "responses_api_models", name: "policy_model" },
            },
          },
        },
      }),
    );
    const lines = Array.from({ length: 30 }, (_, number) => JSON.stringify({ ...JSON.parse(ROW), number }));
    await writeFile(join(cwd, "rows.jsonl"), `${lines.join("\n")}\n`);
    const words = [
      "eval",
      "run",
      "--resources-server",
      "deadly",
      "--model-type",
      "random_model",
      "-i",
      "rows.jsonl",
    ];
    const run = startGym(
      [
        ...words,
        "-o",
        "deadly.jsonl",
        "--queue",
        broker.url,
        "++queue_lease_seconds=1",
        "++queue_max_deliver=4",
      ],
      cwd,
    );
    const restarted = async () => {
      while (run.child.exitCode === null) await Promise.race([startGym(worker(), cwd).ended, run.ended]);
    };
    await Promise.all([restarted(), restarted()]);
    expect(sortedLines(join(cwd, "deadly.jsonl"))).toHaveLength(29);
    const [failure, ...others] = sortedLines(join(cwd, "deadly_failures.jsonl")).map((line) =>
      JSON.parse(line),
    );
    expect(others).toEqual([]);
    expect(failure).toMatchObject({ _ng_task_index: 7, _ng_failure_class: "worker_lost" });
  });

  it("wait for a missing broker and continue", async () => {
    const own = new TestBroker(await freePort());
    await own.start();
    onTestFinished(() => own.close());
    const cwd = await rows(60);
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=200";
    const taker = startGym(["worker", "--queue", own.url, "--concurrency", "4"], cwd);
    const words = [...EVALUATION, "-i", "rows.jsonl", "-o", "away.jsonl", "--queue", own.url, slow];
    const run = startGym([...words, "++queue_lease_seconds=2"], cwd);
    await until(
      "results",
      () => existsSync(join(cwd, "away.jsonl")) && sortedLines(join(cwd, "away.jsonl")).length > 4,
    );
    await own.kill();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await own.start();
    expect(await run.ended, run.text()).toBe(0);
    expect(sortedLines(join(cwd, "away.jsonl"))).toHaveLength(60);
    expect(run.text()).toContain("Connected to the broker");
    expect(taker.text()).toContain("The broker requires no login");
  });

  it("do not send secrets to workers, which supply their own", async () => {
    const cwd = await rows(2);
    const secret = "++policy_model.responses_api_models.random_model.api_key=very-secret";
    const run = startGym(queued("secret.jsonl", secret), cwd);
    const without = startGym(worker(), cwd);
    const key = "++policy_model.responses_api_models.random_model.api_key";
    await until("the worker to complain", () => without.text().includes(`${key}=...`));
    without.child.kill("SIGKILL");
    startGym(worker(`${key}=its-own`), cwd);
    expect(await run.ended, run.text()).toBe(0);
  });

  it("share one budget among all workers", async () => {
    let calls = 0;
    const endpoint = createServer((request, response) => {
      calls++;
      request.resume();
      const message = { type: "message", id: "m", role: "assistant", status: "completed" };
      const answer = {
        id: "r",
        object: "response",
        created_at: 0,
        model: "paid",
        output: [{ ...message, content: [{ type: "output_text", text: "B", annotations: [] }] }],
        parallel_tool_calls: true,
        tool_choice: "auto",
        tools: [],
        usage: {
          input_tokens: 1_000,
          output_tokens: 0,
          total_tokens: 1_000,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        },
      };
      setTimeout(() => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(answer));
      }, 1_000);
    });
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void endpoint.close());
    const { port } = endpoint.address() as AddressInfo;
    const cwd = await rows(100);
    const key = "++policy_api_key=k";
    for (const _ of [1, 2]) startGym(worker("--concurrency", "2", key), cwd);
    const { exitCode, stderr } = await runGym(
      [
        ...["eval", "run", "--resources-server", "mcqa", "--model-type", "openai_model", "-i", "rows.jsonl"],
        ...["-o", "paid.jsonl", "--queue", broker.url, "--model-url", `http://127.0.0.1:${port}/v1`],
        ...["--model", "paid", key, "++max_cost=12"],
        "++policy_model.responses_api_models.openai_model.prices={input: 1000, output: 1000}",
      ],
      { cwd },
    );
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("budget_exhausted");
    // A call costs a dollar. Each of two workers alone would spend 12; the spending of both in one second may be added.
    expect(calls).toBeGreaterThanOrEqual(12);
    expect(calls).toBeLessThan(22);
  });
});
